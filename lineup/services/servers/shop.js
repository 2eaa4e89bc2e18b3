// A shop that answers requests over HTTP: shop.js PORT WORK.
const http = require('http'), fs = require('fs'), os = require('os'), path = require('path');
const [port, work] = process.argv.slice(2);
const things = Array.from({ length: 400 }, (_, i) => ({ id: i, name: 'thing ' + i, price: i * 7, tags: ['a', 'b'] }));
const text = JSON.stringify(things);
const known = JSON.parse(text);
const journal = fs.openSync(path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'lineup-shop-')), 'journal'), 'a');

function readPrices() { return JSON.parse(text); }

function keep(order) {
  fs.writeSync(journal, order);
  if (work === 'sync') fs.fdatasyncSync(journal);
}

function total(list) {
  let sum = 0;
  for (const item of list) sum += item.price;
  return sum;
}

http.createServer((request, response) => {
  const list = work === 'parse' ? readPrices() : known;
  const sum = total(list);
  keep('order of ' + sum + '\n');
  response.end('total ' + sum + '\n');
}).listen(Number(port), 'localhost');
process.on('SIGTERM', () => process.exit(0));
