#!/bin/sh
# serve.sh PORT: redis, and a job that has it add up something in a script every 700 ms.
folder=$(mktemp -d /tmp/lineup-redis-XXXXXX) || exit 2
redis-server --port "$1" --dir "$folder" --save '' --loglevel warning &
server=$!
(sleep 1; while sleep 0.7; do
	redis-cli -p "$1" eval 'local s = 0; for i = 1, 2500000 do s = s + i % 7 end; return s' 0 > /dev/null
done) &
job=$!
trap 'kill $server $job; wait; rm -rf "$folder"; exit' TERM INT
wait
