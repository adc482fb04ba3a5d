#!/bin/sh
# The first process of a sandbox (node/sandbox.ts): sets up mounts and network, then waits and collects orphaned processes.
#
#   sandbox-init.sh CLUSTER_DIRECTORY NODE_ADDRESS SERVICE_RANGE
#
# It runs in new mount, network and pid namespaces. When it ends, the kernel kills every other process in them and removes the mounts,
# links, routes and rules.
set -eu
cluster=$1 address=$2 services=$3

# -- Files ------------------------------------------------------------------------------------------------------------------
# containerd, the kubelet and CNI write to fixed paths: /run/containerd, /var/lib/kubelet, /var/lib/cni, /var/log/containers. In the
# sandbox these belong to the cluster; those of the machine are not touched.

own=$cluster/run/own
mkdir -p "$own"
mount -t tmpfs -o mode=755 localcluster "$own"
# /sys shows the network of the namespace it was mounted in; without this, the kubelet would report the machine's network devices.
# It also works without, so a failure is ignored.
mkdir "$own/cgroup"
mount --rbind /sys/fs/cgroup "$own/cgroup"
if mount -t sysfs sysfs /sys 2>/dev/null; then mount --rbind "$own/cgroup" /sys/fs/cgroup; fi
umount -R "$own/cgroup"

# Relative paths that are not canonicalized (-c): the covered folders may contain the cluster directory.
cd "$own"
mkdir cluster
mount -c --bind "$cluster" cluster

# Covers a folder of the machine: its contents stay readable, writes go into memory.
cover() {
  mkdir -p "$1/upper" "$1/work"
  mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" localcluster "$2" || mount -t tmpfs -o mode=755 localcluster "$2"
}
mount -t tmpfs -o mode=755 localcluster /run
cover lib /var/lib
cover log /var/log
if [ -d /usr/libexec ]; then cover libexec /usr/libexec; fi # the controller manager creates a folder for volume plugins

mkdir -p "$cluster"
mount -c --bind cluster "$cluster"

# Large data, and logs, are stored in the cluster directory.
bind() {
  mkdir -p "$1" "$2"
  mount --bind "$1" "$2"
}
bind "$cluster/data/containerd" /var/lib/containerd
bind "$cluster/data/kubelet" /var/lib/kubelet
bind "$cluster/logs/pods" /var/log/pods

# There is no DNS server at this address, so a lookup fails at once. The machine's DNS servers cannot be reached from here, and their
# addresses may be in a range of the cluster.
if [ -e /etc/resolv.conf ]; then
  echo nameserver 127.0.0.1 >"$own/resolv.conf"
  mount --bind "$own/resolv.conf" /etc/resolv.conf
fi

# The kubelet requires these settings, which apply to the whole machine. It gets files with the required values instead, so that the
# machine is not changed.
fake_sysctl() {
  [ -e "/proc/sys/$1" ] || return 0
  file=$own/$(echo "$1" | tr / .)
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}
fake_sysctl vm/overcommit_memory 1
fake_sysctl vm/panic_on_oom 0
fake_sysctl kernel/panic 10
fake_sysctl kernel/panic_on_oops 1
fake_sysctl kernel/keys/root_maxkeys 1000000
fake_sysctl kernel/keys/root_maxbytes 25000000

# Volumes are mounted by the kubelet and must appear in containers that run already.
mount --make-rshared /

# -- Network ----------------------------------------------------------------------------------------------------------------
# There is no default route. The range of the Services is routed to the bridge, which has no ports; that is enough for iptables to
# see packets for a Service and to rewrite them.

fail() {
  echo "sandbox: $1" >&2
  exit 1
}
ip link set lo up
ip link add node0 type bridge || fail "cannot create a network bridge; on the host, try: modprobe bridge"
ip address add "$address/24" dev node0
ip link set node0 up
ip route add "$services" dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward

# -- Stay -------------------------------------------------------------------------------------------------------------------
trap 'exit 0' TERM
: >"$cluster/run/sandbox.ready"
while :; do
  # `wait` collects every child that exits, including orphans, whose parent becomes pid 1.
  sleep infinity &
  wait
done
