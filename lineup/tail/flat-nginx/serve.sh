#!/bin/sh
# serve.sh PORT FOLDER: nginx that answers each request itself.
mkdir -p "$2"
cat > "$2/nginx" <<END
worker_processes 1; daemon off; pid $2/pid; error_log $2/errors; user root;
events { worker_connections 256; }
http {
	access_log off; client_body_temp_path $2/t; proxy_temp_path $2/t; fastcgi_temp_path $2/t;
	uwsgi_temp_path $2/t; scgi_temp_path $2/t; keepalive_requests 1000000;
	server { listen 127.0.0.1:$1; location / { return 200 ok; } }
}
END
exec nginx -c "$2/nginx"
