// Renders the list of orders of a shop.
const Handlebars = require('handlebars');

const template = Handlebars.compile('{{#each orders}}<li>{{id}} {{customer.name}} {{#if paid}}paid{{/if}}'
  + '{{#each lines}}<b>{{article}} {{count}}</b> {{place.shelf}}{{/each}}</li>{{/each}}');
const orders = Array.from({ length: 300 }, (_, i) => ({
  id: i, customer: { name: `Customer ${i} & Sons` }, paid: i % 2,
  lines: [1, 2, 3].map((count) => ({ article: `a${count}`, count, place: { shelf: i % 9 } })),
}));
let size = 0;
for (let i = 0; i < 420; i++) size += template({ orders }).length;
console.log(size);
