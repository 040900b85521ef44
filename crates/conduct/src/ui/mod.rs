//! `ui`: a server on the loopback interface for one user's browser. The caller supplies the responses.

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

/// How long to wait for a complete request; a client that takes longer is not a browser.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time a client has to read a response.
const READING: Duration = Duration::from_secs(60);
/// The time that responses in progress get at shutdown. Waiting for them lets the store be closed properly,
/// so that it leaves no extra files.
const LAST: Duration = Duration::from_secs(2);

/// A listening server.
#[derive(Debug)]
pub struct Ui {
    listener: TcpListener,
    port: u16,
    token: String,
}

impl Ui {
    /// Listens on a port of the loopback interface; 0 selects a free one.
    ///
    /// # Errors
    /// A port that isn't available.
    pub fn bind(port: u16) -> Result<Ui, ConductError> {
        let refused = |error: std::io::Error| {
            ConductError::Refused(format!(
                "--port {port}: {error}; without --port a free port is chosen"
            ))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        listener.set_nonblocking(true).map_err(refused)?;
        // 128 bits from a generator that the kernel seeds.
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

    /// Returns the URL that a browser opens.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Serves requests until a signal arrives (call [`interrupt::catch`] first). A response that waits for
    /// something must then end as well.
    pub fn run(&self, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        let answer = Arc::new(answer);
        let doors = Arc::new(Doors::default());
        while interrupt::received().is_none() {
            let mut wait = libc::pollfd {
                fd: self.listener.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: the array has one initialized entry. A signal ends the wait; the timeout of a quarter
            // of a second covers a signal that arrives right before the call.
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
                // A disconnected client needs no response.
                let _ = one(&connection, &mut inside, port, &token, &*answer);
                // The resources held by the closure must be released before the connection counts as ended.
                drop(answer);
                drop(inside);
            };
            // If no more threads can be created, the connection is closed.
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
        Ok(_) => Answer::text(503, "too many requests at once; try again"),
        Err(refusal) => refusal,
    };
    http::write(&mut until(READING), &answer)
}
