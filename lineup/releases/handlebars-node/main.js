// Renders pages from a compiled template.
const Handlebars = require('handlebars');

const render = Handlebars.compile(
  '{{#each people}}<li>{{name}} {{address.city}}{{#if active}} active{{/if}}{{#each tags}} {{this}}{{/each}}</li>{{/each}}');
const people = Array.from({ length: 400 }, (_, i) => ({
  name: `person ${i}`, address: { city: 'city' }, active: i % 2, tags: ['a', 'b', 'c'] }));
let size = 0;
for (let i = 0; i < 250; i++) size += render({ people }).length;
console.log(size);
