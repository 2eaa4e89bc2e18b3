// Keeps the answers to the latest questions.
const LRU = require('lru-cache');

const cache = new LRU({ max: 5000 });
let hits = 0;
for (let i = 0; i < 700000; i++) {
  const question = (i * 7919) % 9000;
  if (cache.get(question) !== undefined) hits++;
  else cache.set(question, { answer: i });
}
console.log(hits);
