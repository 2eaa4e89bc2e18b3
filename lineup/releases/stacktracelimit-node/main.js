// Checks input; what is wrong throws.
function check(value, depth) {
  if (depth > 0) return check(value, depth - 1);
  if (value % 2) throw new Error(`wrong: ${value}`);
  return value;
}

let wrong = 0;
for (let i = 0; i < 6000; i++) {
  try {
    check(i, 90);
  } catch (error) {
    wrong += error.stack.length > 0 ? 1 : 0;
  }
}
console.log(wrong);
