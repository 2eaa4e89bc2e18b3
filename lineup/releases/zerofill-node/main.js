// Reads blocks into new buffers.
let total = 0;
for (let i = 0; i < 4000; i++) {
  const block = Buffer.allocUnsafe(256 << 10);
  block[0] = i;
  total += block[0] + block.length;
}
console.log(total);
