#!/bin/bash
# SPDX-License-Identifier: MIT
# stand_in.sh - commands of the documents that can't run in a test, under their names: checks what they are given, and runs
# what they would run, with the environment that they would set
#
# Launchers run all ranks at once. apt, git and cmake's builds do nothing: other tests install the packages and build the tree.
set -eu
name=${0##*/}
die() { echo "$name (stand-in): $*" >&2; exit 64; }

# ranks N SETTER COMMAND...: runs COMMAND as ranks 0 to N-1, each with what SETTER sets
ranks() {
	local n=$1 setter=$2 rank status=0 pids=()
	shift 2
	[ $# -gt 0 ] || die "no command"
	for ((rank = 0; rank < n; rank++)); do
		("$setter" "$rank" "$n" && exec "$@") &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	exit "$status"
}
as_mpi() { export OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 OMPI_COMM_WORLD_LOCAL_RANK=$1; }
as_slurm() { export SLURM_STEP_ID=0 SLURM_PROCID=$1 SLURM_NTASKS=$2 SLURM_LOCALID=$1 SLURM_JOB_ID=4711 SLURM_NODEID=0; }
as_torch() { export RANK=$1 WORLD_SIZE=$2 LOCAL_RANK=$1 MASTER_ADDR=localhost MASTER_PORT=29500; }

# count NAMES ARG...: sets n to the value of one of the options, and rest to the command
count() {
	local names=$1
	shift
	n=1
	while [ $# -gt 0 ]; do
		case $1 in
		--*=*) [[ " $names " != *" ${1%%=*} "* ]] || n=${1#*=} ;;
		-*) [[ " $names " != *" $1 "* ]] || { n=$2; shift; } ;;
		*) break ;;
		esac
		shift
	done
	rest=("$@")
}

case $name in
sudo) exec "$@" ;;
apt | apt-get)
	case ${1:-} in install | update | remove | purge | -y) ;; *) die "unknown: $*" ;; esac
	;;
ldconfig) ;;
git)
	[ "$1" = clone ] || die "unknown: $*"
	mkdir "${3:-rocm-trace-lite}"
	ln -s "$DOC_BUILD" "${3:-rocm-trace-lite}/build"
	for name in demo check; do
		ln -s "$DOC_TOOLS/git" "${3:-rocm-trace-lite}/$name"
	done
	;;
cmake)
	case $1 in
	--preset | --build) ;;
	*) exec "$DOC_CMAKE" "$@" ;;
	esac
	;;
# the example that has code for several GPUs
hipcc) ln -sf "$DOC_BUILD/examples/frames" "${*: -1}" ;;
make)
	prefix=''
	for word in "$@"; do case $word in PREFIX=*) prefix=${word#*=} ;; esac; done
	case " $* " in *" install "*) exec "$DOC_CMAKE" --install "$DOC_BUILD" --prefix "${prefix:?}" ;; esac
	;;
demo | check) ;;
man) [ -e "$DOC_SOURCE/docs/man/$1.1" ] || die "no page $1" ;;
xdg-open | firefox) [ -s "$1" ] || die "$1 is not there" ;;
mpirun) count "-n -np" "$@"; ranks "$n" as_mpi "${rest[@]}" ;;
srun) count "-n --ntasks" "$@"; ranks "$n" as_slurm "${rest[@]}" ;;
torchrun)
	count "--nproc-per-node --nproc_per_node" "$@"
	case " $* " in *" --no-python "*) python=() ;; *) python=(python3) ;; esac
	ranks "$n" as_torch "${python[@]}" "${rest[@]}"
	;;
docker)
	[ "$1" = run ] || die "unknown: $*"
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		-v | -w | --group-add | --device | --security-opt | -e) shift ;;
		-*) ;;
		*) break ;;
		esac
		shift
	done
	[ $# -gt 1 ] || die "no image and command"
	shift
	exec "$@"
	;;
*) die "has no stand-in" ;;
esac
