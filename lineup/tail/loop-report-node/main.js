// An event loop; one request in four hundred makes a report and holds the loop for 25 ms.
const http = require('http')
let count = 0

function makeReport() {
	const until = process.hrtime.bigint() + 25000000n
	let sum = 0
	while (process.hrtime.bigint() < until) sum += Math.sqrt(sum + 1)
	return sum
}

http.createServer((request, response) => {
	if (++count % 400 === 0) makeReport()
	response.setHeader('Content-Length', 2)
	response.end('ok')
}).listen(Number(process.argv[2]), '127.0.0.1')
