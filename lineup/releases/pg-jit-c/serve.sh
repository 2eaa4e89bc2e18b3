#!/bin/sh
# serve.sh make FOLDER | run FOLDER LOAD_OPTIONS SERVER_OPTIONS
# A PostgreSQL cluster with a small table in FOLDER; run starts the server on a socket of its own, puts a fixed load on
# it, and ends it. The server refuses to run as root.
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
folder=$2
as() { setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
start() {
	setpriv --reuid postgres --regid postgres --clear-groups -- "$bin/postgres" -D "$folder/data" -k "$folder" \
		-c listen_addresses= -c max_wal_size=4GB -c autovacuum=off $1 > "$folder/log" 2>&1 &
	server=$!
	trap 'kill -QUIT $server 2>/dev/null' EXIT
	while ! as "$bin/pg_isready" -q -h "$folder"; do
		kill -0 $server || { cat "$folder/log"; exit 2; }
		sleep 0.02
	done
}
stop() {
	kill -INT $server
	wait $server || true
	trap - EXIT
}
case $1 in
make)
	install -d -o postgres -m 700 "$folder"
	as "$bin/initdb" -D "$folder/data" -A trust -N > "$folder/initdb" 2>&1 || { cat "$folder/initdb"; exit 2; }
	start
	as "$bin/psql" -q -h "$folder" postgres -c "create table account as select n as id, n % 97 as branch, 0 as balance
		from generate_series(1, 20000) n" -c "create index on account (id)" -c "vacuum analyze account"
	stop
	;;
run)
	start "$4"
	printf '\\set n random(1, 20000)\n%s\n' "$LOAD" > "$folder/load.sql"
	as "$bin/pgbench" -n -h "$folder" -f "$folder/load.sql" $3 postgres > "$folder/pgbench" 2>&1 ||
		{ cat "$folder/pgbench"; exit 2; }
	stop
	;;
esac
