// Serves rendered pages over HTTP, and asks for them one after the other.
//
// usage: main.js REQUESTS
const http = require('http');
const { fork } = require('child_process');

function renderPage(number) {
  let state = number;
  for (let i = 0; i < 400000; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  }
  return `page ${number}: ${state}\n`;
}

function ask(port, number) {
  return new Promise((resolve, reject) => {
    const agent = ask.agent || (ask.agent = new http.Agent({ keepAlive: true }));
    http.get({ port, agent, path: `/${number}` }, (answer) => {
      let size = 0;
      answer.on('data', (data) => { size += data.length; });
      answer.on('end', () => resolve(size));
    }).on('error', reject);
  });
}

async function load(port, requests) {
  let size = 0;
  for (let number = 0; number < requests; number++) size += await ask(port, number);
  console.log(size);
}

if (process.argv[2] === 'client') {
  load(Number(process.argv[3]), Number(process.argv[4])).then(() => process.exit(0));
} else {
  const server = http.createServer((question, answer) => answer.end(renderPage(Number(question.url.slice(1)))));
  server.listen(0, '127.0.0.1', () => {
    fork(__filename, ['client', server.address().port, process.argv[2]]).on('exit', (status) => process.exit(status));
  });
}
