-- SPDX-License-Identifier: MIT
-- ranks on which kernels take longer than on the others
-- A rank is slow in it if its mean is above the median of all ranks by 3 standard deviations, which
-- are 1.4826 times the median of the distances from it (MAD), and by 2 % at least.
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | host | name | its host |
-- | kernel | kernel | the kernel |
-- | calls | count | how often the rank ran it |
-- | mean_ns | ns | its mean on this rank |
-- | median_ns | ns | median of the means of all ranks |
-- | mad_ns | ns | median of the distances from it |
-- | extra_ns | ns | time that the rank took beyond the median, in all its calls |
WITH part AS (
SELECT g.job AS job, g.rank AS rank, h.host AS host, g.kernel AS kernel, g.n AS n, g.ns AS ns
FROM (SELECT job, rank, kernel, count(*) AS n, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns
	FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns GROUP BY job, rank, kernel) g
JOIN (SELECT job, rank, max(coalesce(host, '')) AS host FROM processes GROUP BY job, rank) h ON g.job = h.job AND g.rank = h.rank
), unit AS (
SELECT job, rank, host, kernel, sum(n) AS calls, CAST(sum(ns) AS DOUBLE) / CAST(sum(n) AS DOUBLE) AS mean
FROM part GROUP BY job, rank, host, kernel
), ordered AS (
SELECT job, rank, host, kernel, calls, mean, row_number() OVER (PARTITION BY job, kernel ORDER BY mean, rank, host) AS nr,
	count(*) OVER (PARTITION BY job, kernel) AS units
FROM unit
), middle AS (
SELECT job, kernel, avg(mean) AS median FROM ordered WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, kernel
), apart AS (
SELECT o.job AS job, o.rank AS rank, o.host AS host, o.kernel AS kernel, o.calls AS calls, o.mean AS mean, o.units AS units, m.median AS median,
	row_number() OVER (PARTITION BY o.job, o.kernel ORDER BY abs(o.mean - m.median), o.rank, o.host) AS nr
FROM ordered o JOIN middle m ON o.job = m.job AND o.kernel = m.kernel
), spread AS (
SELECT job, kernel, avg(abs(mean - median)) AS mad FROM apart
WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, kernel
)
SELECT a.job AS job, a.rank AS rank, a.host AS host, a.kernel AS kernel, a.calls AS calls, a.mean AS mean_ns, a.median AS median_ns,
	s.mad AS mad_ns, (a.mean - a.median) * CAST(a.calls AS DOUBLE) AS extra_ns
FROM apart a JOIN spread s ON a.job = s.job AND a.kernel = s.kernel
WHERE a.units >= 3 AND a.mean - a.median > 4.4478 * s.mad AND a.mean > 1.02 * a.median
ORDER BY extra_ns DESC, a.job, a.rank, a.host, a.kernel
