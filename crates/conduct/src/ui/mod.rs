//! `ui`: a server on loopback for one user's browser. What it answers is the caller's.

mod doors;
mod http;
mod redirect;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doors::{Doors, Inside, Until};
use fathom_measure::interrupt;
pub use http::{Answer, Asked};
pub use redirect::Redirect;

use crate::ConductError;

/// A client that sends no whole request in this time is not a browser.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time to read an answer.
const READING: Duration = Duration::from_secs(60);
/// What is being answered at the end gets this long: the store is closed properly then, and leaves no
/// file beside it.
const LAST: Duration = Duration::from_secs(2);

/// A server that listens.
#[derive(Debug)]
pub struct Ui {
    listener: TcpListener,
    port: u16,
    token: String,
}

impl Ui {
    /// Listens on a port of loopback; 0 is a free one.
    ///
    /// # Errors
    /// A port that can't be had.
    pub fn bind(port: u16) -> Result<Ui, ConductError> {
        let refused = |error: std::io::Error| {
            ConductError::Refused(format!(
                "--port {port}: {error}; without --port a free one is taken"
            ))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        listener.set_nonblocking(true).map_err(refused)?;
        // 128 bits of the generator that is seeded by the kernel.
        let token = format!(
            "{:016x}{:016x}",
            rand::random::<u64>(),
            rand::random::<u64>()
        );
        Ok(Ui {
            listener,
            port,
            token,
        })
    }

    /// What a browser opens.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers until a signal comes ([`interrupt::catch`] first). An answer that waits for something should
    /// end then, too.
    pub fn run(&self, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        let answer = Arc::new(answer);
        let doors = Arc::new(Doors::default());
        while interrupt::received().is_none() {
            let mut wait = libc::pollfd {
                fd: self.listener.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one initialised entry. A signal ends the wait; a quarter of a second covers one
            // that comes right before it.
            let ready = unsafe { libc::poll(&raw mut wait, 1, 250) };
            if ready < 1 {
                continue;
            }
            let Ok((connection, _)) = self.listener.accept() else {
                continue;
            };
            let connection = Arc::new(connection);
            let mut inside = doors.enter(&connection);
            let answer = Arc::clone(&answer);
            let (port, token) = (self.port, self.token.clone());
            let one = move || {
                // A client that disconnected needs no answer.
                let _ = one(&connection, &mut inside, port, &token, &*answer);
                // What it holds is closed before it is out.
                drop(answer);
                drop(inside);
            };
            // Where there can be no more threads, this one finds the door shut.
            let _ = std::thread::Builder::new().spawn(one);
        }
        doors.shut(LAST);
    }
}

fn one(
    connection: &TcpStream,
    inside: &mut Inside,
    port: u16,
    token: &str,
    answer: &(impl Fn(&Asked) -> Answer + ?Sized),
) -> std::io::Result<()> {
    connection.set_nonblocking(false)?;
    let until = |patience| Until {
        connection,
        end: Instant::now() + patience,
    };
    let answer = match http::read(&mut until(PATIENCE), port, token)? {
        Ok(asked) if inside.is_to_be_answered() => answer(&asked),
        Ok(_) => Answer::text(503, "too much is asked at a time; try again"),
        Err(refusal) => refusal,
    };
    http::write(&mut until(READING), &answer)
}
