#!/bin/sh
# fixture.sh make FILE [DIRTY_BYTES] | run FILE COMMAND… | remove FILE
# An ext4 file system in FILE on a loop device of its own, of which at most so many bytes may be dirty. It is mounted
# for one command, in a mount namespace of its own: nothing is left mounted.
set -e
action=$1 file=$2
shift 2
bdi() { echo "/sys/class/bdi/$(cat "/sys/class/block/$(basename "$(cat "$file.device")")/dev")"; }
case $action in
make)
	dd if=/dev/zero of="$file" bs=1M count=64 status=none
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$file"
	mkdir -p "$file.mount"
	losetup -f --show "$file" > "$file.device"
	[ $# = 0 ] || { echo 1 > "$(bdi)/strict_limit"; echo "$1" > "$(bdi)/max_bytes"; }
	;;
run)
	exec unshare -m sh -c 'mount -o noatime "$(cat "$0.device")" "$0.mount" && cd "$0.mount" && exec "$@"' "$file" "$@"
	;;
remove)
	[ -e "$file.device" ] || exit 0
	echo 0 > "$(bdi)/strict_limit"
	echo 100 > "$(bdi)/max_ratio"
	losetup -d "$(cat "$file.device")"
	;;
esac
