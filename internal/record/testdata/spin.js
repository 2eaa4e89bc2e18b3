// Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of each.
'use strict'

let work = 0

function inner(rounds) {
	let sum = work
	for (let i = 0; i < rounds; i++) sum = (sum * 31 + (i ^ (sum >>> 7))) | 0
	work = sum
}

function spinMuch(rounds) {
	for (let i = 0; i < 3; i++) inner(rounds)
}

function spinLittle(rounds) {
	inner(rounds)
	work++
}

const cpu = () => process.cpuUsage().user + process.cpuUsage().system

let much = 0
let little = 0
for (const end = Date.now() + 1000 * Number(process.argv[2]); Date.now() < end;) {
	const start = cpu()
	spinMuch(1000000)
	const next = cpu()
	spinLittle(1000000)
	much += next - start
	little += cpu() - next
}
console.log(`spin_much ${(much / 1e6).toFixed(6)}\nspin_little ${(little / 1e6).toFixed(6)}`)
