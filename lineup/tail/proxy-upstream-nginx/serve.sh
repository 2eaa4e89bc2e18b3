#!/bin/sh
# serve.sh PORT OTHER FOLDER PYTHON SHOP: nginx at PORT as proxy of the shop at OTHER.
folder=$3
mkdir -p "$folder"
cat > "$folder/nginx" <<END
worker_processes 1; daemon off; pid $folder/pid; error_log $folder/errors; user root;
events { worker_connections 256; }
http {
	access_log off; client_body_temp_path $folder/t; proxy_temp_path $folder/t; fastcgi_temp_path $folder/t;
	uwsgi_temp_path $folder/t; scgi_temp_path $folder/t; keepalive_requests 1000000;
	upstream shop { server 127.0.0.1:$2; keepalive 16; keepalive_requests 1000000; }
	server { listen 127.0.0.1:$1; location / {
		proxy_pass http://shop; proxy_http_version 1.1; proxy_set_header Connection "";
	} }
}
END
"$4" "$5" "$2" &
shop=$!
nginx -c "$folder/nginx" &
front=$!
trap 'kill $shop $front; wait; exit' TERM INT
wait
