// Fetches small documents from a server in the same process, with and without keeping connections.
'use strict';

const http = require('node:http');
const { createHash } = require('node:crypto');

const [, , count, keep] = process.argv;
const agent = new http.Agent({ keepAlive: keep === 'keep', maxSockets: 1 });

function digest(text) {
	let sum = text;
	for (let i = 0; i < 12; i++) sum = createHash('sha256').update(sum).digest('hex');
	return sum;
}

function fetchDocument(port, number) {
	return new Promise((resolve, reject) => {
		http.get({ port, host: '127.0.0.1', path: `/${number}`, agent }, (response) => {
			let text = '';
			response.on('data', (part) => { text += part; });
			response.on('end', () => resolve(text.length));
		}).on('error', reject);
	});
}

async function main() {
	const server = http.createServer((request, response) => response.end(digest(request.url)));
	await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
	let total = 0;
	for (let i = 0; i < Number(count); i++) total += await fetchDocument(server.address().port, i);
	console.log(total);
	server.close();
	agent.destroy();
}

main();
