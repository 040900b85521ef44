// Fetches 60 pages from a server, a process of its own that takes 8 ms for each, and digests them.
const http = require('http');
const { fork } = require('child_process');

if (process.argv[2] === 'serve') {
  const server = http.createServer((request, response) => setTimeout(() => response.end(request.url.repeat(50)), 8));
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
} else {
  const child = fork(__filename, ['serve']);
  const agent = new http.Agent({ keepAlive: true });
  const mix = (text, rounds) => {
    let value = 1;
    for (let i = 0; i < rounds; i++) value = (Math.imul(value, 31) + text.charCodeAt(i % text.length)) | 0;
    return value;
  };
  const get = (port, page) => new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port, path: '/page/' + page, agent }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; });
      response.on('end', () => resolve(mix(text, 1e6)));
    }).on('error', reject);
  });
  let sum = mix('while the server starts', 3e7);
  child.on('message', async (port) => {
    const pages = await Promise.all([...Array(60).keys()].map((page) => get(port, page)));
    sum = pages.reduce((all, page) => all ^ page, sum);
    console.log(sum);
    agent.destroy();
    child.kill();
  });
}
