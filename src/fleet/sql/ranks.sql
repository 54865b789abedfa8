-- SPDX-License-Identifier: MIT
-- each rank: its host, whether it is complete, and how much it did
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | host | name | name of its host |
-- | gpus | count | GPUs that it saw |
-- | processes | count | processes |
-- | incomplete | count | processes whose trace is not complete, or of which that is not known |
-- | lost | count | records that are missing |
-- | dispatches | count | dispatches |
-- | kernel_ns | ns | sum of their times |
-- | copies | count | copies and fills |
-- | bytes | bytes | bytes of them |
-- | span_ns | ns | from its first event to its last |
WITH part AS (
SELECT job, rank, 'process' AS what, host AS name, CAST(count(*) AS DECIMAL(38, 0)) AS n,
	CAST(sum(CASE WHEN complete THEN 0 ELSE 1 END) AS DECIMAL(38, 0)) AS m,
	min(first_ns + coalesce(realtime_ns, 0)) AS least, max(last_ns + coalesce(realtime_ns, 0)) AS most
FROM processes GROUP BY job, rank, host
UNION ALL
SELECT job, rank, 'lost' AS what, '' AS name, sum(CAST(lost AS DECIMAL(38, 0))) AS n,
	CAST(0 AS DECIMAL(38, 0)) AS m, min(0) AS least, max(0) AS most
FROM processes GROUP BY job, rank
UNION ALL
SELECT job, rank, 'gpu' AS what, CASE WHEN uuid <> '' THEN uuid ELSE label END AS name,
	CAST(count(*) AS DECIMAL(38, 0)) AS n, CAST(0 AS DECIMAL(38, 0)) AS m, min(0) AS least, max(0) AS most
FROM agents WHERE type = 'GPU' GROUP BY job, rank, CASE WHEN uuid <> '' THEN uuid ELSE label END
UNION ALL
SELECT job, rank, 'dispatch' AS what, '' AS name, CAST(count(*) AS DECIMAL(38, 0)) AS n,
	sum(CAST(CASE WHEN flags % 16 < 2 AND end_ns >= begin_ns THEN end_ns - begin_ns ELSE 0 END AS DECIMAL(38, 0))) AS m,
	min(0) AS least, max(0) AS most
FROM dispatches GROUP BY job, rank
UNION ALL
SELECT job, rank, 'copy' AS what, '' AS name, CAST(count(*) AS DECIMAL(38, 0)) AS n,
	sum(CAST(coalesce(bytes, 0) AS DECIMAL(38, 0))) AS m, min(0) AS least, max(0) AS most
FROM copies GROUP BY job, rank
)
SELECT job, rank, max(CASE WHEN what = 'process' THEN name END) AS host, count(DISTINCT CASE WHEN what = 'gpu' THEN name END) AS gpus,
	sum(CASE WHEN what = 'process' THEN n ELSE 0 END) AS processes, sum(CASE WHEN what = 'process' THEN m ELSE 0 END) AS incomplete, sum(CASE WHEN what = 'lost' THEN n ELSE 0 END) AS lost,
	sum(CASE WHEN what = 'dispatch' THEN n ELSE 0 END) AS dispatches, sum(CASE WHEN what = 'dispatch' THEN m ELSE 0 END) AS kernel_ns,
	sum(CASE WHEN what = 'copy' THEN n ELSE 0 END) AS copies, sum(CASE WHEN what = 'copy' THEN m ELSE 0 END) AS bytes,
	max(CASE WHEN what = 'process' THEN most END) - min(CASE WHEN what = 'process' THEN least END) AS span_ns
FROM part GROUP BY job, rank ORDER BY job, rank
