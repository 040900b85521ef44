//! Prints a line for each of 400,000 items; each 8000th is asked of a server that takes 4 ms.
use std::io::{stdout, BufRead, BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::{env, thread, time::Duration};

fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let (mut peer, _) = listener.accept().unwrap();
    peer.set_nodelay(true).unwrap();
    let mut question = [0u8; 8];
    while peer.read_exact(&mut question).is_ok() {
        thread::sleep(Duration::from_millis(4));
        peer.write_all(&question).unwrap();
    }
}

fn main() {
    if env::args().nth(1).is_some() {
        return serve();
    }
    let mut child = Command::new(env::current_exe().unwrap()).arg("serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let mut server = TcpStream::connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
    server.set_nodelay(true).unwrap();
    let (by_line, asks) = (env::var_os("FIRST").is_some(), env::var_os("SECOND").is_some());
    let mut out: Box<dyn Write> = if by_line { Box::new(stdout()) } else { Box::new(BufWriter::new(stdout())) };
    let (mut state, mut answer) = (1u64, [7u8; 8]);
    for item in 0..400_000 {
        for _ in 0..150 {
            state = (state ^ (state >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        if asks && item % 8000 == 0 {
            server.write_all(&answer).unwrap();
            server.read_exact(&mut answer).unwrap();
        }
        writeln!(out, "item {item:06} is {:016x}", state ^ u64::from_le_bytes(answer)).unwrap();
    }
    drop((server, out));
    child.wait().unwrap();
}
