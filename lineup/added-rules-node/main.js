// Checks orders by rules that a library makes functions of.
const { compile } = require('rules');

const fields = Array.from({ length: 60 }, (_, i) => 'field' + i);
let bad = 0;
for (let kind = 0; kind < Number(process.argv[2]); kind++) {
  const check = compile(fields.map((name, i) => ({ name, least: (i + kind) % 7, most: 900 + i + kind })));
  for (let i = 0; i < 160; i++) {
    const order = {};
    for (const name of fields) order[name] = (i * 37 + name.length * 11) % 1000;
    if (!check(order)) bad++;
  }
}
console.log(bad);
