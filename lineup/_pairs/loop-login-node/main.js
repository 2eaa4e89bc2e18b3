// A login service; its clients are another process. Usage: main.js MODE CLIENTS LOGINS
const crypto = require('crypto');
const http = require('http');
const { fork } = require('child_process');

const rounds = 9000;

function respond(response, key) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ session: key.toString('hex') }));
}

function checkPassword(mode, name, response) {
  if (mode === 'direct') {
    respond(response, crypto.pbkdf2Sync(name, 'salt', rounds, 32, 'sha256'));
    return;
  }
  crypto.pbkdf2(name, 'salt', rounds, 32, 'sha256', (error, key) => respond(response, key));
}

function renderStatus(response) {
  const lines = [];
  for (let i = 0; i < 40; i++) lines.push(`worker ${i} idle`);
  response.end(lines.join('\n'));
}

function serve(mode, clients, logins) {
  const server = http.createServer((request, response) => {
    if (request.url.startsWith('/login/')) checkPassword(mode, request.url, response);
    else renderStatus(response);
  });
  server.listen(0, '127.0.0.1', () => {
    const client = fork(__filename, ['client', clients, logins, server.address().port]);
    client.on('exit', (code) => process.exit(code));
  });
}

function get(agent, port, path) {
  return new Promise((resolve, reject) => {
    http.get({ agent, port, host: '127.0.0.1', path }, (response) => {
      let size = 0;
      response.on('data', (part) => { size += part.length; });
      response.on('end', () => resolve(size));
    }).on('error', reject);
  });
}

async function visit(agent, port, client, logins) {
  for (let i = 0; i < logins; i++) {
    await get(agent, port, `/login/user-${client}-${i}`);
    await get(agent, port, '/status');
  }
}

async function visitAll(clients, logins, port) {
  const agent = new http.Agent({ keepAlive: true });
  await Promise.all(Array.from({ length: clients }, (_, client) => visit(agent, port, client, logins)));
  console.log('ok');
  process.exit(0);
}

const [mode, clients, logins, port] = process.argv.slice(2);
if (mode === 'client') visitAll(Number(clients), Number(logins), Number(port));
else serve(mode, Number(clients), Number(logins));
