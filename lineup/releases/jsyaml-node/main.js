// Reads and writes settings.
const yaml = require('js-yaml');

const settings = { services: Array.from({ length: 800 }, (_, i) => ({
  name: `service-${i}`, port: 1000 + i, hosts: ['a', 'b'], limits: { cpu: i / 10, memory: `${i}m` } })) };
let size = 0;
for (let i = 0; i < 12; i++) size += yaml.dump(yaml.load(yaml.dump(settings))).length;
console.log(size);
