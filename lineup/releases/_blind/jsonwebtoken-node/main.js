// Lets in those who come with a token, and answers them.
const crypto = require('crypto');
const jwt = require('jsonwebtoken');

const secret = 'the secret of a small service';
const parts = Array.from({ length: 800 }, (_, i) => ({ id: i, name: `part ${i}`, price: i * 3, tags: ['a', 'b'] }));
let size = 0;
for (let i = 0; i < 1000; i++) {
  const token = jwt.sign({ user: i, role: 'reader' }, secret, { expiresIn: 600 });
  const { user } = jwt.verify(token, secret);
  const answer = JSON.stringify(parts.filter((part) => (part.id + user) % 3));
  size += answer.length + crypto.createHash('sha256').update(answer).digest('hex').length;
}
console.log(size);
