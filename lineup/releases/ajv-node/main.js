// Compiles the schemas of an interface.
const module_ = require('ajv');
const Ajv = module_.default || module_;

let right = 0;
for (let i = 0; i < 30; i++) {
  const ajv = new Ajv();
  const validate = ajv.compile({
    type: 'object', required: ['id'],
    properties: {
      id: { type: 'integer', minimum: i }, name: { type: 'string', maxLength: 40 },
      lines: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } } } },
    },
  });
  right += validate({ id: i, name: 'n', lines: [{ count: 1 }] }) ? 1 : 0;
}
console.log(right);
