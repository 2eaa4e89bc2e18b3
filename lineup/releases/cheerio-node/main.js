// Collects links of pages.
const cheerio = require('cheerio');

const rows = Array.from({ length: 900 }, (_, i) =>
  `<tr class="row"><td><a href="/${i}">link ${i}</a></td><td>${i}</td></tr>`);
const page = `<html><body><table>${rows.join('')}</table></body></html>`;
let links = 0;
for (let i = 0; i < 6; i++) links += cheerio.load(page)('tr.row a').length;
console.log(links);
