// Reads the settings of many services, changes one and writes them again.
const ini = require('ini');

const text = Array.from({ length: 120 }, (_, i) =>
  `[service ${i}]\nport = ${8000 + i}\nname = "part ${i}"\nhosts[] = a\nhosts[] = b\nactive = true\n`).join('\n');
let size = 0;
for (let i = 0; i < 200; i++) {
  const settings = ini.parse(text);
  settings['service 7'].port = i;
  size += ini.stringify(settings).length;
}
console.log(size);
