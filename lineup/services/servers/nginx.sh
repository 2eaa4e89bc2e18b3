#!/bin/sh
# nginx.sh PORT SETTINGS: nginx in the foreground with one worker, a page of 40 kB, and settings of its http block.
folder=$(mktemp -d /tmp/lineup-nginx-XXXXXX) && chmod 755 "$folder" || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/www"
seq 7000 > "$folder/www/index.html"
cat > "$folder/conf" <<END
worker_processes 1; daemon off; pid $folder/pid; error_log $folder/errors;
events { worker_connections 1024; }
http {
	default_type text/html; client_body_temp_path $folder/t; proxy_temp_path $folder/t; fastcgi_temp_path $folder/t;
	uwsgi_temp_path $folder/t; scgi_temp_path $folder/t;
	$(echo "$2" | sed "s|FOLDER|$folder|g")
	server { listen $1; root $folder/www; }
}
END
nginx -c "$folder/conf" &
trap 'kill $!; wait; rm -rf "$folder"; exit' TERM INT
wait
