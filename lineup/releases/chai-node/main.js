// A test that expects a lot.
const { expect } = require('chai');

const report = Array.from({ length: 400 }, (_, i) => ({ id: i, name: `n${i}`, tags: ['a', 'b'], next: { id: i + 1 } }));
let checks = 0;
for (let i = 0; i < 1500; i++) {
  expect(report).to.have.lengthOf(400);
  expect(report[i % 400]).to.have.property('id', i % 400);
  expect(report[i % 400].tags).to.include('a');
  checks += 3;
}
console.log(checks);
