// Compares the states of a form.
const deepEqual = require('deep-equal');

function makeState(width, depth, value) {
  if (depth === 0) return value;
  const state = {};
  for (let i = 0; i < width; i++) state[`field${i}`] = makeState(width, depth - 1, value);
  return state;
}

const before = makeState(3, 5, 7);
let equal = 0;
for (let i = 0; i < 900; i++) equal += deepEqual(before, makeState(3, 5, 7 + (i % 2))) ? 1 : 0;
console.log(equal);
