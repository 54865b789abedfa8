-- SPDX-License-Identifier: MIT
-- what ran on the GPUs of each rank, and its ranges, in order, at most 4,096 pieces to a line
-- A line is a queue of a GPU, or the ranges of a level. Its time is cut into 4,096 bins, of a power of two of ns; a piece is what began in one of them, with the name that takes most of it.
-- An operation that is longer than a bin and alone is as it was.
-- | job | name | the job |
-- | rank | number | the rank; none: -1, a process without one |
-- | what | name | kernel, copy, range |
-- | pid | number | the process |
-- | gpu | number | number of the GPU in its process; of ranges none |
-- | queue | count | number of the queue in its process; of ranges their level |
-- | name | kernel | kernel, kind of the copy, or text of the range |
-- | wall_ns | number | begin of the first one, in ns since 1970, by the host's clock |
-- | span_ns | ns | from it to the last end |
-- | calls | count | how many began |
-- | sum_ns | ns | sum of their times |
WITH part AS (
SELECT job, rank, what, pid, gpu, queue, max(CASE WHEN nr = 1 THEN name END) AS name, min(begin_ns) AS begin_ns, max(end_ns) AS end_ns, sum(n) AS calls, sum(ns) AS ns
FROM (SELECT job, rank, what, pid, gpu, queue, bin, name, n, ns, begin_ns, end_ns,
		row_number() OVER (PARTITION BY job, rank, what, pid, gpu, queue, bin ORDER BY ns DESC, name) AS nr
	FROM (SELECT o.job AS job, o.rank AS rank, o.what AS what, o.pid AS pid, o.gpu AS gpu, o.queue AS queue, o.name AS name, o.begin_ns - o.begin_ns % b.width_ns AS bin,
			count(*) AS n, sum(CAST(o.end_ns - o.begin_ns AS DECIMAL(38, 0))) AS ns, min(o.begin_ns) + min(b.realtime_ns) AS begin_ns, max(o.end_ns) + min(b.realtime_ns) AS end_ns
		FROM (SELECT job, rank, 'kernel' AS what, pid, gpu, queue, kernel AS name, begin_ns, end_ns FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns
			UNION ALL SELECT job, rank, 'copy' AS what, pid, gpu, queue, kind AS name, begin_ns, end_ns FROM copies WHERE flags % 16 < 2 AND end_ns >= begin_ns
			UNION ALL SELECT job, rank, 'range' AS what, pid, NULL AS gpu, level AS queue, message AS name, begin_ns, end_ns
				FROM ranges WHERE kind <> 'mark' AND end_ns >= begin_ns AND level < 4) o
		JOIN (SELECT s.job AS job, s.rank AS rank, h.realtime_ns AS realtime_ns, min(p.power) AS width_ns
			FROM (SELECT job, rank, min(begin_ns) AS first_ns, max(end_ns) AS last_ns
				FROM (SELECT job, rank, begin_ns, end_ns FROM dispatches WHERE flags % 16 < 2 AND end_ns >= begin_ns
					UNION ALL SELECT job, rank, begin_ns, end_ns FROM copies WHERE flags % 16 < 2 AND end_ns >= begin_ns
					UNION ALL SELECT job, rank, begin_ns, end_ns FROM ranges WHERE kind <> 'mark' AND end_ns >= begin_ns) op GROUP BY job, rank) s
			JOIN (SELECT job, rank, max(coalesce(realtime_ns, 0)) AS realtime_ns FROM processes GROUP BY job, rank) h ON s.job = h.job AND s.rank = h.rank
			CROSS JOIN (SELECT CAST(x.a * y.b AS BIGINT) AS power
				FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32 UNION ALL SELECT 64 UNION ALL SELECT 128) x
				CROSS JOIN (SELECT 1 AS b UNION ALL SELECT 256 UNION ALL SELECT 65536 UNION ALL SELECT 16777216 UNION ALL SELECT 4294967296 UNION ALL SELECT 1099511627776
					UNION ALL SELECT 281474976710656) y) p
			WHERE CAST(p.power AS DOUBLE) * 4096 >= CAST(s.last_ns - s.first_ns AS DOUBLE) GROUP BY s.job, s.rank, h.realtime_ns) b
		ON o.job = b.job AND o.rank = b.rank
		GROUP BY o.job, o.rank, o.what, o.pid, o.gpu, o.queue, o.name, o.begin_ns - o.begin_ns % b.width_ns) binned) named
GROUP BY job, rank, what, pid, gpu, queue, bin
)
SELECT job, rank, what, pid, gpu, queue, name, begin_ns AS wall_ns, end_ns - begin_ns AS span_ns, calls, ns AS sum_ns
FROM part ORDER BY job, rank, what, pid, gpu, queue, begin_ns
