// Joins two feeds of events by a window: events live for a while and are then dropped. Usage: main.js EVENTS WINDOW
function makeEvent(number) {
  const at = { second: number >> 4, source: `s${number % 97}` };
  return { id: number, tags: [`t${number % 13}`, `u${number % 7}`], at };
}

function joinEvent(window, event) {
  const other = window[(event.id * 31) % window.length];
  return other ? other.at.second + other.tags[0].length : 0;
}

const count = Number(process.argv[2]);
const size = Number(process.argv[3]);
const window = new Array(size);
let sum = 0;
for (let i = 0; i < count; i++) {
  const event = makeEvent(i);
  sum += joinEvent(window, event);
  window[i % size] = event;
}
console.log(sum);
