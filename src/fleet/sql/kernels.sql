-- SPDX-License-Identifier: MIT
-- the kernels of all ranks, by the time that they take
-- | kernel | kernel | demangled name |
-- | ranks | count | ranks that have it |
-- | calls | count | how often |
-- | total_ns | ns | sum |
-- | mean_ns | ns | mean |
-- | min_ns | ns | shortest |
-- | max_ns | ns | longest |
-- | share | share | of the sum of all |
WITH part AS (
SELECT job, rank, kernel, count(*) AS n, sum(CAST(end_ns - begin_ns AS DECIMAL(38, 0))) AS ns,
	min(end_ns - begin_ns) AS least, max(end_ns - begin_ns) AS most
FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns GROUP BY job, rank, kernel
), total AS (
SELECT sum(ns) AS all_ns FROM part
)
SELECT kernel, count(*) AS ranks, sum(n) AS calls, sum(ns) AS total_ns,
	CAST(sum(ns) AS DOUBLE) / CAST(sum(n) AS DOUBLE) AS mean_ns, min(least) AS min_ns, max(most) AS max_ns,
	CAST(sum(ns) AS DOUBLE) / CAST(all_ns AS DOUBLE) AS share
FROM part CROSS JOIN total GROUP BY kernel, all_ns ORDER BY total_ns DESC, kernel
