#!/usr/bin/env bash
# An isolated Debian: this machine's files under an overlay in memory, with processes, a network and a host name of its
# own. peers/debian_machine.py starts it and enters it.
#
#     debian-machine.sh FOLDER systemd|container
#
# FOLDER has to be empty; the overlay's files are there. With `systemd`, systemd has booted the machine. With `container`
# it has no systemd and none of its programs, like a container's image. It ends when standard input ends.
set -eu
folder=$1 kind=$2 inside=${3-}
groups=/sys/fs/cgroup

# The cgroups of this kernel: one tree, or one beside systemd's own.
mount_groups() { # mount_groups FOLDER
    if [[ $(stat --file-system --format %T "$groups") == cgroup2fs ]]; then
        mount -t cgroup2 cgroup2 "$1"
    else
        mount -t tmpfs -o mode=755 groups "$1"
        mkdir "$1/systemd" "$1/unified"
        mount -t cgroup -o none,name=systemd groups "$1/systemd"
        mount -t cgroup2 groups "$1/unified"
    fi
}

if [[ -z $inside ]]; then
    mount -t tmpfs -o mode=755 machine "$folder"
    mkdir "$folder/upper" "$folder/work" "$folder/root" "$folder/groups"
    mount_groups "$folder/groups"
    # The machine's systemd makes cgroups below one that can be removed.
    if [[ -e $folder/groups/cgroup.procs ]]; then tops=("$folder/groups"); else tops=("$folder/groups"/{systemd,unified}); fi
    own=()
    for top in "${tops[@]}"; do
        mkdir "$top/gatehouse-machine-$$"
        own+=("$top/gatehouse-machine-$$")
    done
    (
        for group in "${own[@]}"; do echo 0 >"$group/cgroup.procs"; done
        # Only the machine has the mounts, because this script already runs in a namespace of its own.
        exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup \
            "$BASH" "$0" "$folder" "$kind" inside </dev/null
    ) &
    machine=$!
    first=''
    while [[ -z $first ]] && kill -0 "$machine" 2>/dev/null; do
        sleep 0.02
        [[ $(<"/proc/$machine/comm") != unshare ]] || first=$(<"/proc/$machine/task/$machine/children")
    done
    echo "first process: ${first:-none}"
    cat >/dev/null
    kill -KILL "$machine" 2>/dev/null || true
    wait "$machine" 2>/dev/null || true
    # The kernel needs a moment until the processes are gone.
    for ((try = 0; try < 100; try++)); do
        find "${own[@]}" -depth -type d -exec rmdir {} + 2>/dev/null && break
        sleep 0.05
    done
    exit 0
fi

root=$folder/root
mount -t overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" machine "$root"
mount -t proc proc "$root/proc"
# The settings of the kernel, its modules and its clock are those of the host.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t tmpfs -o mode=755 machine "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 machine "$root/run"
mount -t tmpfs -o mode=1777 machine "$root/tmp"
mount -t sysfs -o ro sysfs "$root/sys"
mount_groups "$root$groups"
# The machine has no network but its loopback, and the gateway's unit waits for one where the host has a service for that.
rm -rf "$root"/{etc,lib}/systemd/system/network-online.target.wants
ip link set lo up
hostname machine
# An image forbids packages to start services, the host's disks do not belong to this machine, and an index of the
# manual pages takes longer than everything else here.
rm -f "$root/usr/sbin/policy-rc.d" "$root/etc/fstab" "$root/var/lib/man-db/auto-update"

# The host's mounts are removed, so that the machine cannot write to them.
mkdir "$root/outside"
cd "$root"
pivot_root . outside
umount -l /outside
rmdir /outside
: >/run/machine-has-its-files
if [[ $kind == systemd ]]; then
    printf '[Unit]\nDescription=Nothing but what a test asks for\nDefaultDependencies=no\n' >/etc/systemd/system/machine.target
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=machine \
        setpriv --bounding-set=-sys_module,-sys_time /lib/systemd/systemd --system --unit=machine.target --show-status=no
fi
# Debian's images have deb-systemd-helper, which is essential, and neither of these.
rm -f /usr/bin/systemctl /usr/bin/systemd-*
exec sleep infinity
