// Makes addresses of pages of a catalogue, and reads them again.
const qs = require('qs');

let size = 0;
for (let i = 0; i < 30000; i++) {
  const query = qs.stringify({
    page: i % 40, sort: 'price', filter: { maker: `m${i % 90}`, colours: ['red', 'blue'], price: { from: 10, to: i } },
  });
  size += query.length;
  if (i % 8 === 0) {
    const url = new URL(`https://example.org/parts?${query}`);
    size += Object.keys(qs.parse(url.search.slice(1))).length;
  }
}
console.log(size);
