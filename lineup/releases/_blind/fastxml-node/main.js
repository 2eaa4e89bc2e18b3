// Reads a feed of news and counts what each writer wrote.
const { XMLParser } = require('fast-xml-parser');

const entries = Array.from({ length: 400 }, (_, i) =>
  `<entry id="${i}" lang="en"><title>News ${i} &amp; more</title><author><name>Writer ${i % 9}</name></author>`
  + `<link href="http://example.org/${i}" rel="self"/><size>${i * 7}</size></entry>`);
const feed = `<?xml version="1.0"?><feed><title>News</title>${entries.join('')}</feed>`;
const parser = new XMLParser({ ignoreAttributes: false });
const written = new Map();
for (let i = 0; i < 40; i++) {
  for (const entry of parser.parse(feed).feed.entry) {
    const name = entry.author.name;
    written.set(name, (written.get(name) || 0) + entry.size);
  }
}
console.log([...written.values()].reduce((a, b) => a + b));
