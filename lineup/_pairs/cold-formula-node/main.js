// A sheet of figures: each column has a formula that is given as text. Usage: main.js ROWS BLOCK
const formulas = [
  'row.price * row.count',
  'Math.max(0, row.price - 10) * 0.19 + row.count',
  'row.price > 50 ? row.price * 0.9 : row.price',
  '(row.count % 7) * 3 + Math.floor(row.price / 3)',
];

function prepareSheet() {
  return formulas.map((text) => new Function('row', `return ${text};`));
}

function fillRow(sheet, row) {
  let sum = 0;
  for (const column of sheet) sum += column(row);
  return sum;
}

function formatRow(number, sum) {
  return `${number};${sum.toFixed(2)}\n`;
}

const rows = Number(process.argv[2]);
const block = Number(process.argv[3]);
let sheet;
let size = 0;
for (let i = 0; i < rows; i++) {
  if (i % block === 0) sheet = prepareSheet();
  size += formatRow(i, fillRow(sheet, { price: (i * 7919) % 101, count: (i * 31) % 17 })).length;
}
console.log(size);
