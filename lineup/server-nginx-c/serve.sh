#!/bin/sh
# serve.sh FOLDER REQUESTS_PER_CONNECTION REQUESTS
# Starts nginx on a loopback port of its own, asks it for a small document over and over, and ends it.
folder=$(mktemp -d "$1-XXXXXX") port=$((20000 + $$ % 20000))
mkdir -p "$folder/html" && chmod 755 "$folder" "$folder/html"
head -c 2000 /dev/zero | tr '\0' x > "$folder/html/page"
cat > "$folder/nginx.conf" <<END
daemon off; master_process off; pid $folder/pid; error_log $folder/error.log; user root;
events { worker_connections 128; }
http {
	access_log off; keepalive_timeout 65; keepalive_requests $2;
	client_body_temp_path $folder/body; proxy_temp_path $folder/proxy; fastcgi_temp_path $folder/fastcgi;
	uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;
	server { listen 127.0.0.1:$port; root $folder/html; }
}
END
nginx -e "$folder/error.log" -c "$folder/nginx.conf" &
server=$!
trap 'kill -9 $server 2>/dev/null; rm -rf "$folder"' EXIT
tries=0
while [ ! -s "$folder/pid" ]; do
	tries=$((tries + 1))
	[ $tries -lt 500 ] || { cat "$folder/error.log"; exit 2; }
	sleep 0.02
done
ab -q -k -c 2 -n "$3" "http://127.0.0.1:$port/page" > "$folder/ab" || { cat "$folder/error.log"; exit 2; }
kill $server && wait $server
