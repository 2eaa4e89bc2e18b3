// A server of node's own: shop.js PORT.
require('http').createServer((request, response) => response.end('ok\n')).listen(Number(process.argv[2]), '127.0.0.1');
