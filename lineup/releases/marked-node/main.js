// Renders a reference manual with long lists.
const marked = require('marked');

const parse = marked.parse || marked;
const parts = Array.from({ length: 250 }, (_, i) =>
  `## Type ${i}\n\n` + Array.from({ length: 12 }, (_value, j) =>
    `- field **${j}**: \`type${j}\`\n  with more text`).join('\n'));
console.log(parse(parts.join('\n\n')).length);
