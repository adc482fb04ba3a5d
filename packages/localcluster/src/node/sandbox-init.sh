#!/bin/sh
# The first process of a sandbox (node/sandbox.ts): makes the inside, then stays to bury orphans.
#
#   sandbox-init.sh CLUSTER_DIRECTORY NODE_ADDRESS SERVICE_RANGE
#
# It runs in fresh mount, network and pid namespaces. When it ends, the kernel kills everything else in there and takes the
# mounts, links, routes and rules away: there is no other way down, and no tidying that could be forgotten.
set -eu
cluster=$1 address=$2 services=$3

# -- Files ------------------------------------------------------------------------------------------------------------------
# containerd, the kubelet and CNI write to fixed places: /run/containerd, /var/lib/kubelet, /var/lib/cni, /var/log/containers.
# In here these are the cluster's own; the machine's are not touched, and clusters do not meet.

own=$cluster/run/own
mkdir -p "$own"
mount -t tmpfs -o mode=755 localcluster "$own"
# /sys shows the network of whoever mounted it; without this, the kubelet would report the machine's network cards.
# Only cosmetics: where it is refused, go on.
mkdir "$own/cgroup"
mount --rbind /sys/fs/cgroup "$own/cgroup"
if mount -t sysfs sysfs /sys 2>/dev/null; then mount --rbind "$own/cgroup" /sys/fs/cgroup; fi
umount -R "$own/cgroup"

# Relative paths from here, taken by the kernel as they are (-c): the folders that we cover may be above the cluster's own.
cd "$own"
mkdir cluster
mount -c --bind "$cluster" cluster

# Over a folder of the machine: what is there stays readable, what is written goes into memory and is forgotten.
cover() {
  mkdir -p "$1/upper" "$1/work"
  mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" localcluster "$2" || mount -t tmpfs -o mode=755 localcluster "$2"
}
mount -t tmpfs -o mode=755 localcluster /run
cover lib /var/lib
cover log /var/log
if [ -d /usr/libexec ]; then cover libexec /usr/libexec; fi # the controller manager makes a folder for volume plugins

mkdir -p "$cluster"
mount -c --bind cluster "$cluster"

# What is large, or worth reading later, goes to the cluster's directory.
place() {
  mkdir -p "$1" "$2"
  mount --bind "$1" "$2"
}
place "$cluster/data/containerd" /var/lib/containerd
place "$cluster/data/kubelet" /var/lib/kubelet
place "$cluster/logs/pods" /var/log/pods

# The kubelet insists on these settings, and they are the machine's, not a namespace's. It is shown files that have the values
# it wants, so that nobody's laptop panics differently for having run a test.
pretend() {
  [ -e "/proc/sys/$1" ] || return 0
  file=$own/$(echo "$1" | tr / .)
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}
pretend vm/overcommit_memory 1
pretend vm/panic_on_oom 0
pretend kernel/panic 10
pretend kernel/panic_on_oops 1
pretend kernel/keys/root_maxkeys 1000000
pretend kernel/keys/root_maxbytes 25000000

# Volumes are mounted by the kubelet and must appear in containers that run already.
mount --make-rshared /

# -- Network ----------------------------------------------------------------------------------------------------------------
# No default route: there is no way out. The services' range leads to the bridge, which has no ports; that is enough for
# iptables to see packets for a Service, and send them where they belong.

fail() {
  echo "sandbox: $1" >&2
  exit 1
}
ip link set lo up
ip link add node0 type bridge || fail "this kernel makes no network bridges; on the machine itself, try: modprobe bridge"
ip address add "$address/24" dev node0
ip link set node0 up
ip route add "$services" dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward

# -- Stay -------------------------------------------------------------------------------------------------------------------
trap 'exit 0' TERM
: >"$cluster/run/sandbox.ready"
while :; do
  # `wait` collects every child that ends, also those that were not ours: processes whose parent has gone come to pid 1.
  sleep infinity &
  wait
done
