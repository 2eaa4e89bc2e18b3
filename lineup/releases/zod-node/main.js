// Makes a schema for each form of a set and checks one answer with it.
const { z } = require('zod');

let right = 0;
for (let i = 0; i < 500; i++) {
  const form = z.object({
    name: z.string().min(1), age: z.number().int(), tags: z.array(z.string()),
    address: z.object({ street: z.string(), zip: z.string().optional() }),
  });
  right += form.safeParse({ name: 'a', age: i, tags: ['x'], address: { street: 's' } }).success ? 1 : 0;
}
console.log(right);
