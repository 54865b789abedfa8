-- SPDX-License-Identifier: MIT
-- ranks that come last to collectives, and how long the others wait for them
-- The one that comes last spends least time in a collective, since it waits for none: clocks of hosts are not compared.
-- Collectives are matched by communicator, kernel and number. Where the communicator is not known (RCCL's calls are not recorded) ranks are taken to have one for each kernel.
-- | job | name | the job |
-- | rank | number | the rank that came last |
-- | gpu | number | its GPU |
-- | kernel | kernel | kernel of the collective |
-- | communicator | name | id of RCCL's communicator; none: not known |
-- | collectives | count | of this kernel in the communicator |
-- | last | count | to which this one came last |
-- | share | share | of them |
-- | late_ns | ns | by which it came later than the one before it, in sum |
-- | wait_ns | ns | that all others waited for it, in sum |
WITH part AS (
SELECT job, rank, gpu, kernel, coalesce(communicator, '') AS comm, row_number() OVER (PARTITION BY job, rank, gpu, kernel, coalesce(communicator, '') ORDER BY begin_ns, id) AS nr,
	end_ns - begin_ns AS ns
FROM dispatches
WHERE flags % 16 < 2 AND end_ns >= begin_ns AND (kernel LIKE 'nccl%' OR kernel LIKE 'mscclpp%' OR kernel LIKE '%cross_device_reduce%' OR kernel LIKE '%allreduce%')
), ordered AS (
SELECT job, rank, gpu, kernel, comm, nr, ns, row_number() OVER (PARTITION BY job, kernel, comm, nr ORDER BY ns, rank, gpu) AS place FROM part
), each_one AS (
SELECT job, kernel, comm, nr, count(*) AS members, sum(CAST(ns AS DECIMAL(38, 0))) AS all_ns,
	min(CASE WHEN place = 1 THEN ns END) AS first_ns, min(CASE WHEN place = 2 THEN ns END) AS second_ns,
	max(CASE WHEN place = 1 THEN rank END) AS rank, max(CASE WHEN place = 1 THEN gpu END) AS gpu
FROM ordered GROUP BY job, kernel, comm, nr HAVING count(*) > 1
), counted AS (
SELECT job, kernel, comm, count(*) AS collectives FROM each_one GROUP BY job, kernel, comm
)
SELECT e.job AS job, e.rank AS rank, e.gpu AS gpu, e.kernel AS kernel, CASE WHEN e.comm <> '' THEN e.comm END AS communicator, max(c.collectives) AS collectives, count(*) AS last,
	CAST(count(*) AS DOUBLE) / CAST(max(c.collectives) AS DOUBLE) AS share,
	sum(CAST(e.second_ns - e.first_ns AS DECIMAL(38, 0))) AS late_ns,
	sum(e.all_ns - CAST(e.first_ns AS DECIMAL(38, 0)) * e.members) AS wait_ns
FROM each_one e JOIN counted c ON e.job = c.job AND e.kernel = c.kernel AND e.comm = c.comm
GROUP BY e.job, e.rank, e.gpu, e.kernel, e.comm ORDER BY late_ns DESC, e.job, e.rank, e.gpu, e.kernel, e.comm
