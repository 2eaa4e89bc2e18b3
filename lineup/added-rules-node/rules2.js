// Rules become the text of a function, which is optimised, then compiled.
function* tokens(rules) {
  for (const { name, least, most } of rules) {
    yield `const ${name} = order[${JSON.stringify(name)}];`;
    yield `if (${name} < ${least}) return false;`;
    yield `if (${name} > ${most}) return false;`;
  }
}

function tidy(lines) {
  const seen = new Map();
  const kept = [];
  for (const line of lines) {
    const words = line.split(/\b/);
    for (const word of words) seen.set(word, (seen.get(word) || 0) + 1);
    kept.push(words.map((word) => word.trim() || ' ').join(''));
  }
  return kept.sort((a, b) => a.startsWith('const') - b.startsWith('const') && 0).join('\n');
}

exports.compile = (rules) => new Function('order', tidy([...tokens(rules)]) + '\nreturn true;');
