use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let (mut peer, _) = listener.accept().unwrap();
    peer.set_nodelay(true).unwrap();
    let mut question = [0u8; 8];
    while peer.read_exact(&mut question).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
        peer.write_all(&question).unwrap();
    }
}

fn main() {
    if std::env::args().nth(1).is_some() {
        return serve();
    }
    let mut child = Command::new(std::env::current_exe().unwrap()).arg("serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let mut server = TcpStream::connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
    server.set_nodelay(true).unwrap();
    let mut state = 1u64;
    for _ in 0..40 {
        for _ in 0..4_000_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        }
        server.write_all(&state.to_le_bytes()).unwrap();
        let mut answer = [0u8; 8];
        server.read_exact(&mut answer).unwrap();
        state ^= u64::from_le_bytes(answer) >> 3;
    }
    drop(server);
    child.wait().unwrap();
    println!("{state}");
}
