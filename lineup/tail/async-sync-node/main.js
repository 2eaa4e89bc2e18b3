// An event loop; one request in eighty is an order, which is written and brought to disk without holding the loop.
const http = require('http')
const fs = require('fs/promises')
const text = Buffer.alloc(256 << 10, 'x')

async function bookOrder() {
	const journal = await fs.open(process.argv[3], 'a')
	for (let i = 0; i < 6; i++) {
		await journal.write(text)
		await journal.sync()
	}
	await journal.truncate(0)
	await journal.close()
}

http.createServer(async (request, response) => {
	if (Math.random() < 1 / 80) await bookOrder()
	response.setHeader('Content-Length', 2)
	response.end('ok')
}).listen(Number(process.argv[2]), '127.0.0.1')
