// Linter: finds the line of every finding in a file. `resolveLines` walks the
// table of line starts, from where it was or, with `restart`, from the top.
//
//   usage: node main.js FILES continue|restart
'use strict';

function makeFile(number) {
  const starts = [0];
  const findings = [];
  let seed = number + 1;
  for (let line = 1; line < 800; line++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    starts.push(starts[line - 1] + 20 + (seed >>> 26));
    if (seed % 3 === 0) findings.push(starts[line] + (seed % 11));
  }
  return { starts, findings };
}

function resolveLines(file, restart) {
  const lines = [];
  let line = 0;
  for (const position of file.findings) {
    if (restart) line = 0;
    while (line + 1 < file.starts.length && file.starts[line + 1] <= position) line++;
    lines.push(line);
  }
  return lines;
}

function formatFindings(lines, number) {
  let page = '';
  let digest = number;
  for (const line of lines) {
    const text = 'file' + number + ':' + line + ' unexpected token ' + (line % 37) + '\n';
    for (let i = 0; i < text.length; i++) digest = (Math.imul(digest, 33) ^ text.charCodeAt(i)) | 0;
    page += text;
  }
  return page.length + (digest & 7);
}

function main() {
  const files = Number(process.argv[2]);
  const restart = process.argv[3] === 'restart';
  let size = 0;
  for (let number = 0; number < files; number++) {
    const file = makeFile(number);
    size += formatFindings(resolveLines(file, restart), number);
  }
  console.log(size);
}

main();
