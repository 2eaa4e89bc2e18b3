// A client asks a directory; the directory asks its own source again when an entry is old.
const net = require('node:net');
const crypto = require('node:crypto');

const SOURCE_MS = 210;

function describe(number) {
  let digest = String(number);
  for (let i = 0; i < 40; i++) {
    digest = crypto.createHash('sha256').update(digest).digest('hex');
  }
  return digest;
}

function refresh(answer) {
  setTimeout(answer, SOURCE_MS);
}

function startDirectory(oldEvery, ready) {
  const directory = net.createServer((peer) => {
    peer.setNoDelay(true);
    peer.on('data', (question) => {
      const number = Number(question);
      const answer = () => peer.write(describe(number));
      if (oldEvery > 0 && number % oldEvery === oldEvery - 1) {
        refresh(answer);
      } else {
        answer();
      }
    });
  });
  directory.listen(0, '127.0.0.1', () => ready(directory));
}

function lookUp(peer, number, questions, done) {
  if (number === questions) {
    done();
    return;
  }
  peer.once('data', () => lookUp(peer, number + 1, questions, done));
  peer.write(String(number));
}

const questions = Number(process.argv[2]);
startDirectory(Number(process.argv[3]), (directory) => {
  const peer = net.connect(directory.address().port, '127.0.0.1', () => {
    peer.setNoDelay(true);
    lookUp(peer, 0, questions, () => {
      peer.end();
      directory.close();
    });
  });
});
