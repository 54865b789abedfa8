#!/bin/sh
# SPDX-License-Identifier: MIT
# two_hosts.sh - runs a command on two "hosts" of this machine by Open MPI's launcher: two sets of namespaces
#
#	unshare [-r] -m -n -u -p -f --mount-proc two_hosts.sh SECONDS FOLDER COMMAND...
#
# nodea is the set that unshare makes, nodeb another one, whose monotonic and boot clocks are ahead by SECONDS. A pair of virtual
# network devices connects them. Instead of ssh, mpirun runs FOLDER/agent, which enters the other set.
set -e
ahead=$1 folder=$2
shift 2

# shellcheck disable=SC2016 # $0 is of the inner shell
unshare -n -u -T --monotonic "$ahead" --boottime "$ahead" --fork sh -c 'hostname nodeb; echo > "$0"; exec sleep 600' "$folder/up" &
other=$!
while [ ! -e "$folder/up" ]; do kill -0 $other; sleep 0.05; done
init=$(pgrep -P $other)
trap 'kill $init' EXIT
hostname nodea
ip link add to_b type veth peer name to_a
ip link set to_a netns "$init"
ip addr add 10.9.0.1/24 dev to_b
ip link set to_b up
ip link set lo up
nsenter -t "$init" -n sh -c 'ip addr add 10.9.0.2/24 dev to_a; ip link set to_a up; ip link set lo up'
printf '10.9.0.1 nodea\n10.9.0.2 nodeb\n' > "$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
printf 'nodea slots=1\nnodeb slots=1\n' > "$folder/hostfile"
printf '#!/bin/sh\nshift\nexec nsenter -t %s -n -u -T sh -c "$*"\n' "$init" > "$folder/agent"
chmod +x "$folder/agent"
mpirun.openmpi --hostfile "$folder/hostfile" -n 2 --mca plm_rsh_agent "$folder/agent" --mca pml ob1 --mca btl tcp,self \
	--mca btl_tcp_if_include 10.9.0.0/24 --mca oob_tcp_if_include 10.9.0.0/24 "$@"
