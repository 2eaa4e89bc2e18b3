// Counts the lines of a list of files.
//
// usage: main.js FILES here|tool
const fs = require('fs');
const { execFileSync } = require('child_process');

function linesOf(path, how) {
  if (how === 'tool') {
    return Number(execFileSync('wc', ['-l', path]).toString().split(' ')[0]);
  }
  return fs.readFileSync(path, 'utf8').split('\n').length - 1;
}

function summary(number) {
  let state = number;
  for (let i = 0; i < 1500000; i++) state = (Math.imul(state, 1664525) + i) >>> 0;
  return state & 3;
}

let lines = 0;
for (let number = 0; number < Number(process.argv[2]); number++) {
  lines += linesOf(process.argv[1], process.argv[3]) + summary(number);
}
console.log(lines);
