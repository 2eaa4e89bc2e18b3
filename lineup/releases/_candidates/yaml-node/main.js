// Reads and changes translations.
const yaml = require('yaml');

const texts = Array.from({ length: 400 }, (_, i) =>
  `text${i}:\n  en: "Text ${i}"\n  de: Ein Text ${i}\n  tags: [a, b]`);
const source = texts.join('\n') + '\n';
let size = 0;
for (let i = 0; i < 10; i++) {
  const document = yaml.parseDocument(source);
  document.setIn(['text7', 'en'], `changed ${i}`);
  size += String(document).length;
}
console.log(size);
