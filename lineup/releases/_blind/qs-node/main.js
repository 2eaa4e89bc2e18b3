// Makes addresses of pages of a catalogue, and reads them again.
const qs = require('qs');

let size = 0;
for (let i = 0; i < 30000; i++) {
  const query = qs.stringify({
    page: i % 40, sort: 'price', filter: { maker: `m${i % 90}`, colours: ['red', 'blue'], price: { from: 10, to: i } },
  });
  const url = new URL(`https://example.org/parts?${query}`);
  size += url.search.length;
  if (i % 4 === 0) size += Object.keys(qs.parse(query)).length;
}
console.log(size);
