const net = require('net');

const server = net.createServer((peer) => {
  let seen = 0;
  peer.on('data', (data) => {
    seen += data.length;
    while (seen >= 300) { seen -= 300; peer.write('k'); }
  });
}).listen(0, '127.0.0.1', () => {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.setNoDelay(true);
  let left = 12, sum = 1;
  const ask = () => {
    for (let i = 0; i < 6e6; i++) sum = (sum * 31 + i) | 0;
    socket.write(Buffer.alloc(20));
    socket.write(Buffer.alloc(280));
  };
  socket.on('connect', ask);
  socket.on('data', () => {
    if (--left) return ask();
    console.log(sum);
    socket.end();
    server.close();
  });
});
