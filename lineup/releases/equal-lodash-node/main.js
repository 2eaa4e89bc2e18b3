// Groups and sorts orders.
const _ = require('lodash');

const orders = Array.from({ length: 60000 }, (_value, i) => ({ id: i, customer: i * 7919 % 3000, total: i % 97 }));
let size = 0;
for (let i = 0; i < 12; i++) {
  size += _.sortBy(_.map(_.groupBy(orders, 'customer'), (list) => _.sumBy(list, 'total'))).length;
}
console.log(size);
