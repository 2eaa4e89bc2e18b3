// Keeps a sliding window of quotes and their averages.
function quote(number) {
  return { symbol: 's' + (number % 500), price: number % 977, sizes: [number % 3, number % 5] };
}

function slide(window, number) {
  const entry = quote(number);
  window[number % window.length] = entry;
  return entry.price + entry.sizes[0];
}

function main() {
  const count = Number(process.argv[2]);
  const window = new Array(60000).fill(null);
  let total = 0;
  for (let number = 0; number < count; number++) {
    total += slide(window, number);
  }
  console.log(total, window.length);
}

main();
