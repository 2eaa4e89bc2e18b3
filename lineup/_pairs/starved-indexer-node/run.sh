#!/bin/sh
# run.sh PACKER CPU COMMAND...: the indexer on the first CPU, and beside it the packer on the given one.
packer=$1 cpu=$2
shift 2
taskset -c "$cpu" "$packer" &
helper=$!
taskset -c 0 "$@"
code=$?
kill $helper
wait $helper 2> /dev/null
exit $code
