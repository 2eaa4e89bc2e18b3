#!/bin/sh
# serve.sh make FOLDER | run FOLDER PORT: a PostgreSQL cluster with a small table; run adds a job that keeps a row of it
# locked for 40 ms every 800 ms. The server refuses to run as root.
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
folder=$2
as() { setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
start() {
	setpriv --reuid postgres --regid postgres --clear-groups -- "$bin/postgres" -D "$folder/data" -k "$folder" \
		-c synchronous_commit=off -c autovacuum=off "$@" > "$folder/log" 2>&1 &
	server=$!
	while ! as "$bin/pg_isready" -q -h "$folder" -p "${port:-5432}"; do sleep 0.05; done
}
case $1 in
make)
	install -d -o postgres -m 700 "$folder"
	as "$bin/initdb" -D "$folder/data" -A trust -N > "$folder/initdb" 2>&1
	start -c listen_addresses=
	as "$bin/psql" -q -h "$folder" postgres -c "create table stock as select n as id, 0 as count
		from generate_series(1, 4) n" -c "create unique index on stock (id)"
	kill -INT $server
	wait $server
	;;
run)
	port=$3
	start -c listen_addresses=127.0.0.1 -p "$port"
	printf '%s\n' "begin;" "update stock set count = 0 where id = 1;" "\\sleep 40 ms" "end;" "\\sleep 800 ms" \
		> "$folder/job.sql"
	as "$bin/pgbench" -n -h "$folder" -p "$port" -c 1 -T 3600 -f "$folder/job.sql" postgres > "$folder/job" 2>&1 &
	job=$!
	trap 'kill $job; kill -INT $server; wait; exit' TERM INT
	wait $server
	;;
esac
