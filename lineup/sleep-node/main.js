// Uploads parts in turn; a part that is refused is tried again after a pause.
//
//   usage: node main.js PARTS PAUSE_MS
'use strict';
const crypto = require('crypto');

function encryptPart(part) {
  let block = crypto.createHash('sha256').update('part ' + part).digest();
  for (let i = 0; i < 2500; i++) block = crypto.createHash('sha256').update(block).digest();
  return block[0];
}

// The service refuses every third part once.
function accepted(part, attempt) {
  return part % 3 !== 0 || attempt > 0;
}

function pauseBeforeRetry(pauseMs) {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}

async function uploadPart(part, pauseMs) {
  const value = encryptPart(part);
  for (let attempt = 0; !accepted(part, attempt); attempt++) await pauseBeforeRetry(pauseMs);
  return value;
}

async function main() {
  const parts = Number(process.argv[2]);
  const pauseMs = Number(process.argv[3]);
  let sum = 0;
  for (let part = 0; part < parts; part++) sum += await uploadPart(part, pauseMs);
  console.log(sum);
}

main();
