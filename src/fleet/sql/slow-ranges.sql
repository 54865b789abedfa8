-- SPDX-License-Identifier: MIT
-- ranks on which roctx ranges take longer than on the others
-- A rank is slow in it if its mean is above the median of all ranks by 3 standard deviations, which
-- are 1.4826 times the median of the distances from it (MAD), and by 2 % at least.
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | name | name | the range |
-- | calls | count | how often the rank ran it |
-- | mean_ns | ns | its mean on this rank |
-- | median_ns | ns | median of the means of all ranks |
-- | mad_ns | ns | median of the distances from it |
-- | extra_ns | ns | time that the rank took beyond the median, in all its calls |
WITH part AS (
SELECT job, rank, message AS name, count(*) AS n, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns
FROM ranges WHERE kind <> 'mark' AND end_ns >= begin_ns GROUP BY job, rank, message
), unit AS (
SELECT job, rank, name, sum(n) AS calls, CAST(sum(ns) AS DOUBLE) / CAST(sum(n) AS DOUBLE) AS mean
FROM part GROUP BY job, rank, name
), ordered AS (
SELECT job, rank, name, calls, mean, row_number() OVER (PARTITION BY job, name ORDER BY mean, rank) AS nr,
	count(*) OVER (PARTITION BY job, name) AS units
FROM unit
), middle AS (
SELECT job, name, avg(mean) AS median FROM ordered WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, name
), apart AS (
SELECT o.job AS job, o.rank AS rank, o.name AS name, o.calls AS calls, o.mean AS mean, o.units AS units, m.median AS median,
	row_number() OVER (PARTITION BY o.job, o.name ORDER BY abs(o.mean - m.median), o.rank) AS nr
FROM ordered o JOIN middle m ON o.job = m.job AND o.name = m.name
), spread AS (
SELECT job, name, avg(abs(mean - median)) AS mad FROM apart
WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, name
)
SELECT a.job AS job, a.rank AS rank, a.name AS name, a.calls AS calls, a.mean AS mean_ns, a.median AS median_ns,
	s.mad AS mad_ns, (a.mean - a.median) * CAST(a.calls AS DOUBLE) AS extra_ns
FROM apart a JOIN spread s ON a.job = s.job AND a.name = s.name
WHERE a.units >= 3 AND a.mean - a.median > 4.4478 * s.mad AND a.mean > 1.02 * a.median
ORDER BY extra_ns DESC, a.job, a.rank, a.name
