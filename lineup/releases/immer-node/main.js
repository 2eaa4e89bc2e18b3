// Applies actions to the state of a shop.
const { produce } = require('immer');

let state = { articles: Array.from({ length: 300 }, (_, id) => ({ id, count: 0, tags: ['a', 'b'] })), total: 0 };
for (let i = 0; i < 1500; i++) {
  state = produce(state, (draft) => {
    draft.articles[i % 300].count += 1;
    draft.total += 1;
  });
}
console.log(state.total);
