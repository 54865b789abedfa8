-- SPDX-License-Identifier: MIT
-- the mean of each rank beside the median of all, for the kernels that take most of a job's time
-- The 48 kernels with the largest sums, in their order; of each, all ranks that ran it.
-- | job | name | the job |
-- | nth | number | number of the kernel by its sum, from 1 |
-- | kernel | kernel | the kernel |
-- | collective | count | 1: a kernel of collectives, in which a rank waits for others; 0: another |
-- | rank | number | the rank; none: -1, a process without one |
-- | calls | count | how often the rank ran it |
-- | total_ns | ns | sum of its times on this rank |
-- | mean_ns | ns | its mean on this rank |
-- | median_ns | ns | median of the means of all ranks |
-- | ratio | ratio | mean / median |
WITH part AS (
SELECT job, rank, kernel, count(*) AS n, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns
FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns AND kernel IS NOT NULL GROUP BY job, rank, kernel
), ranked AS (
SELECT job, kernel, row_number() OVER (PARTITION BY job ORDER BY all_ns DESC, kernel) AS nth
FROM (SELECT job, kernel, sum(ns) AS all_ns FROM part GROUP BY job, kernel) k
), unit AS (
SELECT p.job AS job, p.rank AS rank, p.kernel AS kernel, l.nth AS nth, p.n AS calls, p.ns AS ns, CAST(p.ns AS DOUBLE) / CAST(p.n AS DOUBLE) AS mean
FROM part p JOIN ranked l ON p.job = l.job AND p.kernel = l.kernel WHERE l.nth <= 48
), ordered AS (
SELECT job, rank, kernel, mean, row_number() OVER (PARTITION BY job, kernel ORDER BY mean, rank) AS nr, count(*) OVER (PARTITION BY job, kernel) AS units FROM unit
), middle AS (
SELECT job, kernel, avg(mean) AS median FROM ordered WHERE 2 * nr BETWEEN units AND units + 2 GROUP BY job, kernel
)
SELECT u.job AS job, u.nth AS nth, u.kernel AS kernel,
	CASE WHEN u.kernel LIKE 'nccl%' OR u.kernel LIKE 'mscclpp%' OR u.kernel LIKE '%cross_device_reduce%' OR u.kernel LIKE '%allreduce%' THEN 1 ELSE 0 END AS collective,
	u.rank AS rank, u.calls AS calls, u.ns AS total_ns, u.mean AS mean_ns, m.median AS median_ns, CASE WHEN m.median > 0 THEN u.mean / m.median END AS ratio
FROM unit u JOIN middle m ON u.job = m.job AND u.kernel = m.kernel ORDER BY u.job, u.nth, u.rank
