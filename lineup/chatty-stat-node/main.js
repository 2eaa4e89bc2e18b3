// Renders pages from templates. A template is looked up in a list of folders;
// with `revalidate` every lookup asks the file system again.
//
//   usage: node main.js PAGES cached|revalidate
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'pages-'));
const folders = ['theme', 'site', 'vendor', 'base'].map((name) => path.join(root, name));
const known = new Map();

function findTemplate(name, revalidate) {
  if (!revalidate && known.has(name)) return known.get(name);
  for (const folder of folders) {
    const file = path.join(folder, name);
    const found = fs.statSync(file, { throwIfNoEntry: false });
    if (found && found.isFile()) {
      known.set(name, file);
      return file;
    }
  }
  throw new Error('no template ' + name);
}

function render(template, page) {
  let digest = page;
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < template.length; i++) digest = (digest * 31 + template.charCodeAt(i)) | 0;
  }
  return '<p>' + digest.toString(16) + '</p>';
}

function main() {
  const pages = Number(process.argv[2]);
  const revalidate = process.argv[3] === 'revalidate';
  let bytes = 0;
  for (const folder of folders) fs.mkdirSync(folder);
  for (let i = 0; i < 20; i++) fs.writeFileSync(path.join(folders[3], 't' + i + '.html'), 'x'.repeat(400));
  try {
    for (let page = 0; page < pages; page++) {
      const file = findTemplate('t' + (page % 20) + '.html', revalidate);
      bytes += render(file + 'x'.repeat(300), page).length;
    }
  } finally {
    fs.rmSync(root, { recursive: true });
  }
  console.log(bytes);
}

main();
