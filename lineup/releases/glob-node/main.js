// Lists the sources of a tree.
const fs = require('fs');
const os = require('os');
const path = require('path');
const glob = require('glob');

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tree-'));
for (let i = 0; i < 60; i++) {
  const folder = path.join(root, `part${i}`, 'src');
  fs.mkdirSync(folder, { recursive: true });
  for (let j = 0; j < 20; j++) fs.writeFileSync(path.join(folder, `file${j}.js`), '');
}
let found = 0;
for (let i = 0; i < 12; i++) found += glob.sync('**/src/*.js', { cwd: root }).length;
fs.rmSync(root, { recursive: true });
console.log(found);
