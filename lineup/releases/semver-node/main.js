// Sorts out which releases fit.
const semver = require('semver');

let fitting = 0;
for (let i = 0; i < 60000; i++) {
  if (semver.satisfies(`1.${i % 50}.${i % 7}`, '>=1.2.0 <1.30.0 || ^1.40.2')) fitting++;
}
console.log(fitting);
