// Selects files by patterns.
const micromatch = require('micromatch');

const files = Array.from({ length: 1500 }, (_, i) => `src/part${i % 40}/file${i}.${i % 2 ? 'js' : 'css'}`);
let selected = 0;
for (let i = 0; i < 40; i++) {
  selected += micromatch(files, [`src/part{1..${i + 1}}/**/*.js`, `!src/part${i}/*.js`]).length;
}
console.log(selected);
