// Reads a catalogue.
const { DOMParser } = require('@xmldom/xmldom');

const items = Array.from({ length: 1500 }, (_, i) =>
  `<item id="${i}"><name>article ${i}</name><price currency="EUR">${i * 3}.50</price></item>`);
const text = `<catalogue>${items.join('')}</catalogue>`;
let count = 0;
for (let i = 0; i < 12; i++) {
  count += new DOMParser().parseFromString(text, 'text/xml').documentElement.childNodes.length;
}
console.log(count);
