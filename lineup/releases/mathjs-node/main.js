// Works with expressions and matrices.
const math = require('mathjs');

const compiled = math.parse('2 * x + sqrt(y) - x * y / 3').compile();
let total = 0;
for (let i = 0; i < 90000; i++) total += compiled.evaluate({ x: i, y: i + 1 });
console.log(total);
