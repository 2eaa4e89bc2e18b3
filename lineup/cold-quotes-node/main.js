// Prices baskets with formulas that customers define.
const formulas = ['quantity * price', 'quantity * price * 0.95', 'Math.max(quantity * price - 5, 0)'];
const prepared = formulas.map((text) => new Function('quantity', 'price', 'return ' + text));

function priceBasket(formula, quantity, price, number, mode) {
  if (mode === 'custom' && number % 4 === 0) {
    const text = '/* basket ' + number + ' */ return ' + formulas[formula];
    return new Function('quantity', 'price', text)(quantity, price);
  }
  return prepared[formula](quantity, price);
}

function describe(number) {
  const words = [];
  for (let i = 0; i < 40; i++) words.push((number * i).toString(36));
  return words.join('-').length;
}

function main() {
  const baskets = Number(process.argv[2]);
  let total = 0;
  for (let number = 0; number < baskets; number++) {
    total += describe(number);
    total += priceBasket(number % 3, number % 10, number % 97, number, process.argv[3]);
  }
  console.log(total);
}

main();
