#!/bin/sh
# fixture.sh make GROUP BYTES_PER_SECOND: a blkio cgroup that limits reads from the disk that holds the current folder.
set -e
group=/sys/fs/cgroup/blkio/$2
source=$(findmnt -no SOURCE -T . | sed 's/\[.*//')
block=/sys/class/block/$(basename "$(readlink -f "$source")")
[ ! -e "$block/partition" ] || block=$(readlink -f "$block/..")
mkdir -p "$group"
echo "$(cat "$block/dev") $3" > "$group/blkio.throttle.read_bps_device"
