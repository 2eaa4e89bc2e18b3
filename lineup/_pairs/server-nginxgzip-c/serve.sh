#!/bin/sh
# serve.sh CLIENT LEVEL REQUESTS: runs nginx on a Unix socket for as long as the client needs it.
client=$1 level=$2 requests=$3
home=$(mktemp -d)
mkdir "$home/www"
i=0
while [ $i -lt 900 ]; do
    echo "<tr><td>$i</td><td>item-$((i * 7919 % 1009))</td><td>$((i * i % 977)).$((i % 100))</td>" \
      "<td>in stock since day $((i * 31 % 365))</td></tr>"
    i=$((i + 1))
done > "$home/www/list.html"
cat > "$home/nginx.conf" <<CONF
daemon off; user root; worker_processes 1; pid $home/pid; error_log $home/error.log;
events { worker_connections 64; }
http {
  access_log off; keepalive_requests 100000;
  client_body_temp_path $home/t1; proxy_temp_path $home/t2; fastcgi_temp_path $home/t3;
  uwsgi_temp_path $home/t4; scgi_temp_path $home/t5;
  types { text/html html; }
  gzip on; gzip_comp_level $level; gzip_min_length 100;
  server { listen unix:$home/socket; root $home/www; }
}
CONF
nginx -p "$home" -c "$home/nginx.conf" -e "$home/error.log" &
server=$!
while [ ! -S "$home/socket" ]; do sleep 0.01; done
"$client" "$home/socket" "$requests"
code=$?
kill $server
wait $server
rm -rf "$home"
exit $code
