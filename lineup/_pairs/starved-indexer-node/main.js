// Makes a search index of pages. Usage: main.js PAGES
function makePage(seed) {
  const words = [];
  for (let i = 0; i < 400; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    words.push(`w${(seed >>> 16) % 4000}`);
  }
  return words.join(' ');
}

function indexPage(index, number, page) {
  for (const word of page.split(' ')) {
    const entry = index.get(word);
    if (entry === undefined) index.set(word, [number]);
    else if (entry[entry.length - 1] !== number) entry.push(number);
  }
}

const index = new Map();
for (let i = 0; i < Number(process.argv[2]); i++) indexPage(index, i, makePage(i + 1));
let sum = 0;
for (const entry of index.values()) sum += entry.length;
console.log(sum);
