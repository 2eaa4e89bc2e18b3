#!/bin/sh
# serve.sh PORT PYTHON SHOP NAMES: the shop in a mount namespace whose resolver asks a name server of its own.
server=127.0.0.66
"$2" "$4" $server 160 0.06 &
names=$!
settings=$(mktemp)
trap 'kill $names $shop; rm -f "$settings"; exit' EXIT TERM INT
echo "nameserver $server" > "$settings"
sleep 1
unshare -m sh -c 'mount --bind "$1" /etc/resolv.conf && exec "$2" "$3" "$4"' sh "$settings" "$2" "$3" "$1" &
shop=$!
wait $shop
