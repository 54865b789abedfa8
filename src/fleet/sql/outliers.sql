-- SPDX-License-Identifier: MIT
-- seconds in which a kernel took longer on a rank than in its other seconds
-- Beyond 5 standard deviations, which are 1.4826 times the median of the distances from the median (MAD), and 10 %.
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | kernel | kernel | the kernel |
-- | at_ns | ns | begin of the second, from the first one of the rank |
-- | wall_ns | number | the same in ns since 1970, by the host's clock |
-- | calls | count | dispatches that began in it |
-- | mean_ns | ns | their mean |
-- | median_ns | ns | median of the means of all seconds |
-- | mad_ns | ns | median of the distances from it |
-- | extra_ns | ns | time beyond the median, of all its dispatches |
WITH part AS (
SELECT g.job AS job, g.rank AS rank, g.kernel AS kernel, g.second_ns AS second_ns, h.realtime_ns AS realtime_ns, g.n AS n, g.ns AS ns
FROM (SELECT job, rank, kernel, begin_ns - begin_ns % 1000000000 AS second_ns, count(*) AS n, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns
	FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns GROUP BY job, rank, kernel, begin_ns - begin_ns % 1000000000) g
JOIN (SELECT job, rank, max(coalesce(realtime_ns, 0)) AS realtime_ns FROM processes GROUP BY job, rank) h ON g.job = h.job AND g.rank = h.rank
), ordered AS (
SELECT job, rank, kernel, second_ns, realtime_ns, n, CAST(ns AS DOUBLE) / CAST(n AS DOUBLE) AS mean,
	row_number() OVER (PARTITION BY job, rank, kernel ORDER BY CAST(ns AS DOUBLE) / CAST(n AS DOUBLE), second_ns) AS nr,
	count(*) OVER (PARTITION BY job, rank, kernel) AS units, min(second_ns) OVER (PARTITION BY job, rank) AS first_ns
FROM part
), middle AS (
SELECT job, rank, kernel, avg(mean) AS median FROM ordered WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, rank, kernel
), apart AS (
SELECT o.job AS job, o.rank AS rank, o.kernel AS kernel, o.second_ns AS second_ns, o.first_ns AS first_ns, o.realtime_ns AS realtime_ns,
	o.n AS n, o.mean AS mean, o.units AS units, m.median AS median,
	row_number() OVER (PARTITION BY o.job, o.rank, o.kernel ORDER BY abs(o.mean - m.median), o.second_ns) AS nr
FROM ordered o JOIN middle m ON o.job = m.job AND o.rank = m.rank AND o.kernel = m.kernel
), spread AS (
SELECT job, rank, kernel, avg(abs(mean - median)) AS mad FROM apart
WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, rank, kernel
)
SELECT a.job AS job, a.rank AS rank, a.kernel AS kernel, a.second_ns - a.first_ns AS at_ns, a.second_ns + a.realtime_ns AS wall_ns, a.n AS calls,
	a.mean AS mean_ns, a.median AS median_ns, s.mad AS mad_ns, (a.mean - a.median) * CAST(a.n AS DOUBLE) AS extra_ns
FROM apart a JOIN spread s ON a.job = s.job AND a.rank = s.rank AND a.kernel = s.kernel
WHERE a.units >= 3 AND a.mean - a.median > 7.413 * s.mad AND a.mean > 1.1 * a.median
ORDER BY extra_ns DESC, a.job, a.rank, a.kernel, a.second_ns
