-- SPDX-License-Identifier: MIT
-- how unevenly the ranks share each kernel: the longest sum of a rank beside the mean of all
-- | job | name | the job |
-- | kernel | kernel | the kernel; all of them: (all) |
-- | ranks | count | ranks that ran it |
-- | mean_ns | ns | mean of the ranks' sums |
-- | max_ns | ns | largest sum of a rank |
-- | slowest | number | that rank |
-- | ratio | ratio | max / mean |
-- | extra_ns | ns | max - mean: what a rank could wait for the slowest one |
WITH part AS (
SELECT job, rank, kernel, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns
FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns GROUP BY job, rank, kernel
), sums AS (
SELECT job, rank, kernel, ns FROM part
UNION ALL
SELECT job, rank, '(all)' AS kernel, sum(ns) AS ns FROM part GROUP BY job, rank
), ordered AS (
SELECT job, rank, kernel, ns, row_number() OVER (PARTITION BY job, kernel ORDER BY ns DESC, rank) AS nr FROM sums
)
SELECT job, kernel, count(*) AS ranks, avg(CAST(ns AS DOUBLE)) AS mean_ns, max(ns) AS max_ns,
	max(CASE WHEN nr = 1 THEN rank END) AS slowest, CAST(max(ns) AS DOUBLE) / avg(CAST(ns AS DOUBLE)) AS ratio,
	CAST(max(ns) AS DOUBLE) - avg(CAST(ns AS DOUBLE)) AS extra_ns
FROM ordered GROUP BY job, kernel HAVING max(ns) > 0 ORDER BY extra_ns DESC, job, kernel
