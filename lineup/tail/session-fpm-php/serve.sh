#!/bin/sh
# serve.sh PORT FOLDER PAGE JOB: PHP-FPM behind nginx, and a job that locks the sessions.
folder=$2
mkdir -p "$folder" && cp "$3" "$folder/page.php" && touch "$folder/session" && chmod -R a+rwX "$folder"
cat > "$folder/fpm" <<END
[global]
error_log = $folder/fpm.log
daemonize = no
[www]
user = www-data
group = www-data
listen = $folder/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 6
END
cat > "$folder/nginx" <<END
worker_processes 1; daemon off; pid $folder/pid; error_log $folder/errors; user root;
events { worker_connections 256; }
http {
	access_log off; client_body_temp_path $folder/t; proxy_temp_path $folder/t; fastcgi_temp_path $folder/t;
	uwsgi_temp_path $folder/t; scgi_temp_path $folder/t; keepalive_requests 1000000;
	server { listen 127.0.0.1:$1; location / {
		fastcgi_pass unix:$folder/fpm.sock;
		fastcgi_param SCRIPT_FILENAME $folder/page.php; fastcgi_param REQUEST_METHOD \$request_method;
		fastcgi_param SCRIPT_NAME \$uri; fastcgi_param SESSION $folder/session;
	} }
}
END
php-fpm8.2 -y "$folder/fpm" -n -d opcache.enable=0 &
fpm=$!
php -n "$4" "$folder/session" &
job=$!
nginx -c "$folder/nginx" &
front=$!
trap 'kill $fpm $job $front; wait; exit' TERM INT
wait
