// Exports rows as JSON lines into a file.
const fs = require('node:fs');

function makeRow(number) {
  const cells = [];
  for (let i = 0; i < 40; i++) {
    cells.push((number * 2654435761 + i * 40503) % 1000003);
  }
  return JSON.stringify({ number, cells, note: 'n'.repeat(300) }) + '\n';
}

function storeRows(file, rows) {
  fs.writeSync(file, rows.join(''));
}

function main(path, count) {
  const file = fs.openSync(path, 'w');
  let rows = [];
  for (let number = 0; number < count; number++) {
    rows.push(makeRow(number));
    if (rows.length === 200) {
      storeRows(file, rows);
      rows = [];
    }
  }
  storeRows(file, rows);
  fs.closeSync(file);
}

main(process.argv[2], Number(process.argv[3]));
