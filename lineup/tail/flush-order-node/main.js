// An event loop; one request in a hundred is an order, which is answered with the next batch, every 50 ms.
const http = require('http')
let waiting = []

function flushOrders() {
	const batch = waiting
	waiting = []
	for (const answer of batch) answer()
}

function bookOrder() {
	return new Promise((answer) => waiting.push(answer))
}

function drawPage() {
	let sum = 0
	for (let i = 0; i < 1e5; i++) sum += i * i
	return sum
}

setInterval(flushOrders, 50)
http.createServer(async (request, response) => {
	if (Math.random() < 1 / 100) await bookOrder()
	drawPage()
	response.setHeader('Content-Length', 2)
	response.end('ok')
}).listen(Number(process.argv[2]), '127.0.0.1')
