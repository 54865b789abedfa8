-- SPDX-License-Identifier: MIT
-- how busy the GPUs of each rank were over the time of its job
-- A GPU is busy while a kernel or a copy runs on it, one or several. The time is cut into bins of a power of two of ns, of which the time of a job has at most 257.
-- Each rank has bins of its own, as short as its time allows, which the bins of the job consist of.
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | at_ns | ns | begin of the bin, from that of the job's first one |
-- | wall_ns | number | the same in ns since 1970, by the host's clock |
-- | bin_ns | ns | its length |
-- | gpus | count | GPUs on which something of the rank ran, in each of its processes |
-- | busy_ns | ns | time in which they were busy, in sum |
-- | share | share | of the bin |
WITH part AS (
SELECT job, rank, pid, gpu, begin_ns - begin_ns % step_ns AS first_bin, (end_ns - 1) - (end_ns - 1) % step_ns AS last_bin,
	min(step_ns) AS width_ns, min(from_ns) AS first_ns, max(to_ns) AS last_ns,
	sum(CASE WHEN end_ns - begin_ns < step_ns - begin_ns % step_ns THEN end_ns - begin_ns ELSE step_ns - begin_ns % step_ns END) AS first_part,
	sum((end_ns - 1) % step_ns + 1) AS last_part
FROM (SELECT o.job AS job, o.rank AS rank, o.pid AS pid, o.gpu AS gpu, b.step_ns AS step_ns, b.from_ns AS from_ns, b.to_ns AS to_ns,
		CASE WHEN o.before_ns > o.begin_ns THEN o.before_ns ELSE o.begin_ns END + b.realtime_ns AS begin_ns, o.end_ns + b.realtime_ns AS end_ns
	FROM (SELECT job, rank, pid, gpu, begin_ns, end_ns,
			coalesce(max(end_ns) OVER (PARTITION BY job, rank, pid, gpu ORDER BY begin_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
		FROM (SELECT job, rank, pid, gpu, begin_ns, end_ns FROM dispatches WHERE flags % 16 < 2 AND end_ns > begin_ns AND gpu IS NOT NULL
			UNION ALL SELECT job, rank, pid, gpu, begin_ns, end_ns FROM copies WHERE flags % 16 < 2 AND end_ns > begin_ns AND gpu IS NOT NULL) op) o
	JOIN (SELECT s.job AS job, s.rank AS rank, h.realtime_ns AS realtime_ns, s.first_ns + h.realtime_ns AS from_ns, s.last_ns + h.realtime_ns AS to_ns,
			min(p.power) AS step_ns
		FROM (SELECT job, rank, min(begin_ns) AS first_ns, max(end_ns) AS last_ns
			FROM (SELECT job, rank, begin_ns, end_ns FROM dispatches WHERE flags % 16 < 2 AND end_ns > begin_ns AND gpu IS NOT NULL
				UNION ALL SELECT job, rank, begin_ns, end_ns FROM copies WHERE flags % 16 < 2 AND end_ns > begin_ns AND gpu IS NOT NULL) op GROUP BY job, rank) s
		JOIN (SELECT job, rank, max(coalesce(realtime_ns, 0)) AS realtime_ns FROM processes GROUP BY job, rank) h ON s.job = h.job AND s.rank = h.rank
		CROSS JOIN (SELECT CAST(x.a * y.b AS BIGINT) AS power
			FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32 UNION ALL SELECT 64 UNION ALL SELECT 128) x
			CROSS JOIN (SELECT 1024 AS b UNION ALL SELECT 262144 UNION ALL SELECT 67108864 UNION ALL SELECT 17179869184 UNION ALL SELECT 4398046511104
				UNION ALL SELECT 1125899906842624) y) p
		WHERE CAST(p.power AS DOUBLE) * 256 >= CAST(s.last_ns - s.first_ns AS DOUBLE) GROUP BY s.job, s.rank, h.realtime_ns, s.first_ns, s.last_ns) b
	ON o.job = b.job AND o.rank = b.rank
	WHERE o.end_ns > o.before_ns) span
GROUP BY job, rank, pid, gpu, begin_ns - begin_ns % step_ns, (end_ns - 1) - (end_ns - 1) % step_ns
), scale AS (
SELECT j.job AS job, j.first_ns AS first_ns, min(p.power) AS bin_ns FROM (SELECT job, min(first_ns) AS first_ns, max(last_ns) AS last_ns FROM part GROUP BY job) j
CROSS JOIN (SELECT CAST(x.a * y.b AS BIGINT) AS power
	FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32 UNION ALL SELECT 64 UNION ALL SELECT 128) x
	CROSS JOIN (SELECT 1024 AS b UNION ALL SELECT 262144 UNION ALL SELECT 67108864 UNION ALL SELECT 17179869184 UNION ALL SELECT 4398046511104
		UNION ALL SELECT 1125899906842624) y) p
WHERE CAST(p.power AS DOUBLE) * 256 >= CAST(j.last_ns - j.first_ns AS DOUBLE) GROUP BY j.job, j.first_ns
), number AS (
SELECT x.a * 16 + y.b + 1 AS nr
FROM (SELECT 0 AS a UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7
	UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) x
CROSS JOIN (SELECT 0 AS b UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7
	UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13 UNION ALL SELECT 14 UNION ALL SELECT 15) y
), piece AS (
SELECT job, rank, first_bin AS bin, first_part AS ns FROM part
UNION ALL
SELECT job, rank, last_bin AS bin, last_part AS ns FROM part WHERE last_bin > first_bin
UNION ALL
SELECT w.job AS job, w.rank AS rank, w.first_bin + n.nr * w.width_ns AS bin, w.width_ns AS ns
FROM (SELECT job, rank, first_bin, last_bin, width_ns FROM part WHERE last_bin - first_bin > width_ns) w CROSS JOIN number n WHERE w.first_bin + n.nr * w.width_ns < w.last_bin
), used AS (
SELECT job, rank, count(*) AS gpus FROM (SELECT DISTINCT job, rank, pid, gpu FROM part) g GROUP BY job, rank
), summed AS (
SELECT p.job AS job, p.rank AS rank, s.bin_ns AS bin_ns, s.first_ns - s.first_ns % s.bin_ns AS zero_ns, p.bin - p.bin % s.bin_ns AS wall_ns, sum(p.ns) AS busy_ns
FROM piece p JOIN scale s ON p.job = s.job GROUP BY p.job, p.rank, s.bin_ns, s.first_ns - s.first_ns % s.bin_ns, p.bin - p.bin % s.bin_ns
)
SELECT t.job AS job, t.rank AS rank, t.wall_ns - t.zero_ns AS at_ns, t.wall_ns AS wall_ns, t.bin_ns AS bin_ns, u.gpus AS gpus, t.busy_ns AS busy_ns,
	CAST(t.busy_ns AS DOUBLE) / (CAST(t.bin_ns AS DOUBLE) * CAST(u.gpus AS DOUBLE)) AS share
FROM summed t JOIN used u ON t.job = u.job AND t.rank = u.rank ORDER BY t.job, t.rank, t.wall_ns
