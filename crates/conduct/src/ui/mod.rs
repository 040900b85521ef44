//! `ui`: a server on loopback for one user's browser. What it answers is the caller's.

mod http;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fathom_measure::interrupt;
pub use http::{Answer, Asked};

use crate::ConductError;

/// A browser has six connections to a server, and some tabs.
const MOST_CONNECTIONS: usize = 64;
/// Who sends no request in this time is no browser.
const PATIENCE: Duration = Duration::from_secs(10);
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
        let open = Arc::new(AtomicUsize::new(0));
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
            if open.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
                continue;
            }
            open.fetch_add(1, Ordering::Relaxed);
            let (answer, open) = (Arc::clone(&answer), Arc::clone(&open));
            let (port, token) = (self.port, self.token.clone());
            std::thread::spawn(move || {
                // Who went away needs no answer.
                let _ = one(connection, port, &token, &*answer);
                drop(answer);
                open.fetch_sub(1, Ordering::Release);
            });
        }
        let end = Instant::now() + LAST;
        while open.load(Ordering::Acquire) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn one(
    mut connection: TcpStream,
    port: u16,
    token: &str,
    answer: &(impl Fn(&Asked) -> Answer + ?Sized),
) -> std::io::Result<()> {
    connection.set_nonblocking(false)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let answer = match http::read(&mut connection, port, token)? {
        Ok(asked) => answer(&asked),
        Err(refusal) => refusal,
    };
    http::write(&mut connection, &answer)
}
