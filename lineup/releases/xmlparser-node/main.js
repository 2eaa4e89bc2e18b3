// Reads a catalogue.
const fxp = require('fast-xml-parser');

const items = Array.from({ length: 4000 }, (_, i) =>
  `<item id="${i}"><name>article ${i}</name><price currency="EUR">${i * 3}.50</price></item>`);
const text = `<catalogue>${items.join('')}</catalogue>`;
const options = { ignoreAttributes: false };
const parse = fxp.XMLParser ? (xml) => new fxp.XMLParser(options).parse(xml) : (xml) => fxp.parse(xml, options);
let count = 0;
for (let i = 0; i < 8; i++) count += parse(text).catalogue.item.length;
console.log(count);
