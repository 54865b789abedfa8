#!/bin/sh
# SPDX-License-Identifier: MIT
# dask.sh - rtl fleet's script for Dask as a user runs it, beside SQLite's answer: a scheduler, two workers, one killed
#
# Usage: bench/fleet/dask.sh RTL ROOT DIR [QUESTION...]
#   RTL                     the command
#   ROOT                    a root folder with python3-distributed and python3-pyarrow, as Debian's unstable has them
#   DIR                     a data set
#   QUESTION                those of rtl fleet --by (overview slow-ranks collectives kernels)
#
# The scheduler and each worker have a network namespace of their own on a bridge, and share DIR alone. A worker is killed as soon
# as the scheduler says that it works on a rank. Needs root. Ends with status 1 where rows differ, 77 where it can't run.
set -eu
[ $# -ge 3 ] || {
	sed -n 's/^# \{0,1\}//; 2,14p' "$0"
	exit 2
}
rtl=$1 root=$2 set=$(cd "$3" && pwd)
shift 3
[ "$(id -u)" = 0 ] || {
	echo "needs root"
	exit 77
}
if [ "${DASK_INSIDE:-}" != 1 ]; then
	exec env DASK_INSIDE=1 unshare -m -n -p -f --mount-proc --propagation private "$0" "$rtl" "$root" "$set" "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root$set"
mount -t proc none "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/tmp"
mkdir -p "$root$set" "$root/tmp/work"
mount --bind "$set" "$root$set"
mount -o remount,ro,bind "$root$set" 2>/dev/null || true
mount --bind "$work" "$root/tmp/work"

scheduler='' one='' two='' one_worker=''
# hold NAME: a network namespace, held by the process $NAME; inside PID COMMAND...: in it, and in the root
hold() {
	unshare -n sleep 100000 &
	eval "$1=$!"
}
inside() {
	pid=$1
	shift
	nsenter -n -t "$pid" chroot "$root" /usr/bin/env PATH=/usr/bin HOME=/tmp/work LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore "$@"
}
ip link add bridge type bridge
ip link set bridge up
n=1
for name in scheduler one two; do
	hold "$name"
	eval "pid=\$$name"
	until [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
	ip link add "v$n" type veth peer name "p$n" netns "$pid"
	ip link set "v$n" master bridge up
	nsenter -n -t "$pid" ip addr add "10.9.0.$n/24" dev "p$n"
	nsenter -n -t "$pid" ip link set "p$n" up
	nsenter -n -t "$pid" ip link set lo up
	n=$((n + 1))
done

# rtl rounds times to nanoseconds and shares to 6 digits
cat >"$work/same.py" <<-'EOT'
	import csv, sys
	a, b = (list(csv.DictReader(open(f, encoding="utf-8"))) for f in sys.argv[1:])
	if len(a) != len(b):
	    sys.exit(print(len(a), "and", len(b), "rows") or 1)
	for x, y in zip(a, b):
	    for k in x.keys() | y.keys():
	        if x.get(k) != y.get(k) and abs(float(x[k]) - float(y[k])) > (0.5001 if k.endswith("_ns") else 1e-6):
	            sys.exit(print(k, x, y) or 1)
EOT

wait_for() {
	tries=0
	until grep -q "$1" "$2" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || {
			cat "$2"
			exit 77
		}
		sleep 0.1
	done
}
inside "$scheduler" /usr/bin/python3 -m distributed.cli.dask_scheduler --host 10.9.0.1 --port 8786 --no-dashboard >"$work/scheduler.log" 2>&1 &
wait_for 'Scheduler at' "$work/scheduler.log"
# worker NAME PID: without a nanny, which would start it again
worker() {
	inside "$2" /usr/bin/python3 -m distributed.cli.dask_worker tcp://10.9.0.1:8786 --no-nanny --no-dashboard --nthreads 1 \
		--memory-limit 0 --name "$1" >"$work/$1.log" 2>&1 &
	eval "$1_worker=$!"
	wait_for 'Registered to' "$work/$1.log"
}
worker two "$two"
failed=0
[ $# -gt 0 ] || set -- overview slow-ranks collectives kernels
for question in "$@"; do
	worker one "$one"
	"$rtl" fleet --engine sqlite -f csv --by "$question" "$set" >"$work/sqlite.csv"
	"$rtl" fleet --engine dask --sql "$question" "$set" >"$work/ask.py"
	begin=$(date +%s.%N)
	inside "$scheduler" /usr/bin/python3 /tmp/work/ask.py tcp://10.9.0.1:8786 >"$work/dask.csv" 2>"$work/dask.err" &
	asked=$!
	# the worker's first rank is in its work: it dies in the middle
	cat >"$work/busy.py" <<-'EOT'
		import sys, time
		from dask.distributed import Client
		client = Client("tcp://10.9.0.1:8786")
		for _ in range(6000):
		    for address, tasks in client.processing().items():
		        name = client.scheduler_info()["workers"].get(address, {}).get("name")
		        if name == "one" and tasks:
		            print(len(tasks))
		            sys.exit()
		    time.sleep(0.01)
		sys.exit("it never worked")
	EOT
	tasks=$(inside "$scheduler" /usr/bin/python3 /tmp/work/busy.py 2>"$work/busy.err") || tasks=
	pkill -KILL -P "$one_worker" 2>/dev/null || true
	kill -KILL "$one_worker" 2>/dev/null || true
	wait "$asked" || cat "$work/dask.err"
	rows=$(wc -l <"$work/dask.csv")
	if python3 "$work/same.py" "$work/sqlite.csv" "$work/dask.csv" >"$work/differs"; then
		echo "$question: $((rows - 1)) rows are equal; a worker was killed with ${tasks:-no} ranks left; $(echo "$(date +%s.%N) $begin" | awk '{printf "%.1f", $1 - $2}') s"
	else
		echo "$question: rows differ"
		cat "$work/differs"
		failed=1
	fi
done
exit $failed
