//! Send 20 messages as header and body, with no delay, and await each reply.
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn serve(listener: &TcpListener) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut header = [0; 4];
    while stream.read_exact(&mut header).is_ok() {
        let mut body = vec![0; u32::from_be_bytes(header) as usize];
        stream.read_exact(&mut body)?;
        body.reverse();
        stream.write_all(&body)?;
    }
    Ok(())
}

fn work(value: u64) -> u64 {
    (0..2_000_000).fold(value, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || serve(&listener));
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut value = 1;
    for _ in 0..20 {
        stream.write_all(&8u32.to_be_bytes())?;
        stream.write_all(&work(value).to_be_bytes())?;
        let mut reply = [0; 8];
        stream.read_exact(&mut reply)?;
        value = u64::from_be_bytes(reply);
    }
    drop(stream);
    server.join().expect("the server does not panic")?;
    println!("{value:016x}");
    Ok(())
}
