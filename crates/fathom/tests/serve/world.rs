//! Helpers shared by all tests: servers with known behaviour.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A server written with Python's socket calls, one thread per connection. `sys.argv`: port, kind. Speaks TLS
/// with the certificate and key in the file named by the variable `CERTIFICATE`.
const SERVER: &str = r"
import base64, hashlib, os, socket, ssl, sys, threading, time
port, kind = int(os.environ['PORT'] if sys.argv[1] == 'env' else sys.argv[1]), sys.argv[2]
if kind == 'dies': sys.stderr.write('no such table: users\n'); sys.exit(3)
if kind == 'silent': time.sleep(600)
if kind == 'daemon' and os.fork(): os._exit(0)
if kind == 'late': time.sleep(0.05)
tls = None
if os.environ.get('CERTIFICATE'):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); tls.load_cert_chain(os.environ['CERTIFICATE'])
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', port)); s.listen(4096)
print('ready to serve', flush=True)
count = [0]
def answer(status, body, more=b''):
    return b'HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n%s' % (status, len(body), more, body)
def serve(c):
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b''
    while True:
        while b'\r\n\r\n' not in held:
            got = c.recv(65536)
            if not got: return
            held += got
        head, held = held.split(b'\r\n\r\n', 1)
        count[0] += 1
        path = head.split(b' ')[1]
        if kind == 'ws': return echo(c, head.decode(), held)
        if kind == 'booting' and count[0] <= 2: c.sendall(answer(503, b'wait'))
        elif kind == 'fails': c.sendall(answer(500, b'no'))
        elif kind == 'mixed' and count[0] > 10 and count[0] % 2: c.sendall(answer(500, b'no'))
        elif kind == 'closes': c.sendall(answer(200, b'Hello', b'Connection: close\r\n')); c.close(); return
        elif kind == 'stops' and count[0] > 10: time.sleep(600)
        elif kind == 'exits' and count[0] > 10: os._exit(7)
        elif kind == 'garbage': c.sendall(os.urandom(4096))
        elif kind == 'endless': c.sendall(b'HTTP/1.1 200 OK\r\n\r\n' if count[0] else b''); [c.sendall(b'x' * 65536) for _ in iter(int, 1)]
        elif kind == 'headers': c.sendall(b'HTTP/1.1 200 OK\r\n'); [c.sendall(b'X-A: ' + b'y' * 1000 + b'\r\n') for _ in iter(int, 1)]
        elif kind == 'trickle':
            for byte in answer(200, b'Hello'): c.sendall(bytes([byte])); time.sleep(1)
        elif kind == 'half': c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel'); c.shutdown(socket.SHUT_WR); time.sleep(600)
        elif kind == 'more': c.sendall(answer(200, b'Hello') + b'HTTP/1.1 200 OK\r\n\r\n')
        elif kind == 'counts': c.sendall(answer(200, b'%d' % count[0]))
        elif path == b'/where': c.sendall(answer(200, b'here'))
        else: c.sendall(answer(200, b'Hello'))
def echo(c, head, held):
    key = [l.split(': ')[1] for l in head.split('\r\n') if l.startswith('Sec-WebSocket-Key')][0]
    key = base64.b64encode(hashlib.sha1((key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest())
    c.sendall(b'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ' + key + b'\r\n\r\n')
    while True:
        while len(held) < 6 or len(held) < 6 + (held[1] & 127):
            got = c.recv(65536)
            if not got: return
            held += got
        size = held[1] & 127
        text = bytes(b ^ held[2 + i % 4] for i, b in enumerate(held[6:6 + size]))
        if held[0] & 15 == 8: return
        c.sendall(bytes([0x81, size]) + text)
        held = held[6 + size:]
def guarded(c):
    try: serve(tls.wrap_socket(c, server_side=True) if tls else c)
    except OSError: pass
    c.close()
while True:
    c, _ = s.accept()
    threading.Thread(target=guarded, args=(c,), daemon=True).start()
";

/// Returns the words of the command that starts such a server.
pub(crate) fn server(kind: &str) -> Vec<String> {
    ["python3", "-c", SERVER, "{port}", kind]
        .map(str::to_string)
        .to_vec()
}

/// Returns the command line that starts such a server.
pub(crate) fn line(kind: &str) -> String {
    let words = server(kind);
    let quoted = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

pub(crate) fn fathom(options: &[&str], server: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("serve").args(options);
    if !server.is_empty() {
        command.arg("--").args(server);
    }
    command
        .env_remove("NO_COLOR")
        // This folder holds no machine profile, so the machine is not compared with one.
        .env("XDG_CACHE_HOME", "/dev/null/no-folder")
        .env_remove("LD_LIBRARY_PATH")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(options: &[&str], kind: &str) -> Output {
    fathom(options, &server(kind)).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The smallest measurement that shows everything, unless `options` override it: three launches, two rounds
/// of 0.2 s.
pub(crate) fn quick<'o>(options: &[&'o str]) -> Vec<&'o str> {
    let usual = [
        ("--launches", "3"),
        ("--rounds", "2"),
        ("--time", "200ms"),
        ("-c", "1,4"),
    ];
    let mut all = vec!["--json", "-"];
    for (option, value) in usual {
        if !options.contains(&option) {
            all.extend([option, value]);
        }
    }
    all.extend(options);
    all
}

/// Returns the record of a short measurement. Exit code 4 is allowed: other programs may be busy here.
pub(crate) fn record(options: &[&str], server: &[String]) -> Value {
    let output = fathom(&quick(options), server).output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 4)), "{code:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Returns the processes with this text in their command line.
pub(crate) fn processes_with(text: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let own = std::process::id().to_string();
    all.map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy() != own)
        })
        .filter(|path| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(text)
        })
        .collect()
}
