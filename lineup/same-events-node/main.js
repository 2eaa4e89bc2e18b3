// Runs many small tasks through timers and promises.
'use strict';

const { createHash } = require('node:crypto');

async function handle(number) {
	await new Promise((done) => setImmediate(done));
	let text = String(number);
	for (let i = 0; i < 20; i++) text = createHash('sha256').update(text).digest('hex');
	return text.length;
}

async function main() {
	let total = 0;
	for (let i = 0; i < Number(process.argv[2]); i++) total += await handle(i);
	await new Promise((done) => setTimeout(done, 50));
	console.log(total);
}

main();
