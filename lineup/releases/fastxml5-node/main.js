// Reads feeds.
const { XMLParser } = require('fast-xml-parser');

const items = Array.from({ length: 3000 }, (_, i) =>
  `<item id="${i}"><title>News ${i} &amp; more</title><link>https://example.org/${i}</link><description>Text ${i}</description></item>`);
const feed = `<rss><channel>${items.join('')}</channel></rss>`;
const parser = new XMLParser({ ignoreAttributes: false });
let count = 0;
for (let i = 0; i < 8; i++) count += parser.parse(feed).rss.channel.item.length;
console.log(count);
