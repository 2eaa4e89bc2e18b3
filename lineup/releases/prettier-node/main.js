// Formats one small file, as an editor does on each save.
const prettier = require('prettier');

console.log(prettier.format('{"name":"shop","version":"1.0.0"}', { parser: 'json' }).length);
