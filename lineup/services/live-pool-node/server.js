// Signs each answer in the threads of libuv. usage: server.js PORT
const http = require("http");
const crypto = require("crypto");
http.createServer((request, response) => {
  crypto.pbkdf2(request.url, "salt", 2500, 32, "sha256", (error, key) => response.end(key.toString("hex")));
}).listen(Number(process.argv[2]), "127.0.0.1");
