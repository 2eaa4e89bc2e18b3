// Looks whether the pages of a site are newer than their sources, and renders
// those that have to be.
//
// usage: main.js PAGES
const fs = require('fs');
const crypto = require('crypto');

const source = process.argv[1];

function isStale(page) {
  return fs.statSync(source).mtimeMs > page * 1e12;
}

function render(page) {
  let text = `page ${page}`;
  for (let i = 0; i < 12; i++) {
    text = crypto.createHash('sha1').update(text).digest('hex') + i;
  }
  return text.length;
}

let size = 0;
for (let page = 0; page < Number(process.argv[2]); page++) {
  if (page % 2 === 0 && isStale(page)) size++;
  size += render(page);
}
console.log(size);
