#!/bin/sh
# serve.sh FOLDER BENCHMARK_OPTIONS -- SERVER_OPTIONS…
# Starts a Redis server on a socket of its own, puts a fixed load on it, and ends it.
folder=$(mktemp -d "$1-XXXXXX") load=$2
shift 3
redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" --save '' --loglevel warning "$@" \
	> "$folder/log" 2>&1 &
server=$!
trap 'kill -9 $server 2>/dev/null; rm -rf "$folder"' EXIT
while [ ! -S "$folder/socket" ]; do
	kill -0 $server || { cat "$folder/log"; exit 2; }
	sleep 0.02
done
redis-benchmark -s "$folder/socket" -q $load || exit 2
kill $server && wait $server
