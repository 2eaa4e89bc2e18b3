#!/bin/sh
# redis.sh PORT OPTIONS…: redis in the foreground with a folder of its own.
port=$1; shift
folder=$(mktemp -d /tmp/lineup-redis-XXXXXX) || exit 2
redis-server --port "$port" --dir "$folder" --save '' --loglevel warning "$@" &
trap 'kill $!; wait; rm -rf "$folder"; exit' TERM INT
wait
