//! A connection to a server, driven by the caller.
//!
//! Both local sockets and networks send their bytes through the guard of [`super::tls`].

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Config, Host, SslMode, SslNegotiation};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::guard::Limits;
use super::tls::Connector;

/// A future that reads and writes on the connection until it ends.
type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// The reason for a failed connection.
pub(super) enum Failed {
    System(io::Error),
    Server(Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::System(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Server(error)
    }
}

pub(super) struct Client {
    /// `None` only while dropping.
    client: Option<tokio_postgres::Client>,
    connection: Option<Connection>,
    runtime: Runtime,
}

impl Client {
    /// Connects, within the limits.
    pub(super) fn connect(
        mut config: Config,
        connector: Connector,
        limits: &Limits,
    ) -> Result<Client, Failed> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // The connector does what the library would do before TLS.
        config.ssl_mode(SslMode::Require);
        config.ssl_negotiation(SslNegotiation::Direct);
        let connecting = async {
            let Some(Host::Unix(folder)) = config.get_hosts().first() else {
                let (client, connection) = config.connect(connector).await?;
                return Ok((client, Box::pin(connection) as Connection));
            };
            let port = config.get_ports().first().copied().unwrap_or(5432);
            let path = folder.join(format!(".s.PGSQL.{port}"));
            let stream = limits.in_time(UnixStream::connect(path)).await?;
            let raw = config.connect_raw(stream, connector.handshake("localhost"));
            let (client, connection) = raw.await?;
            Ok::<_, Failed>((client, Box::pin(connection) as Connection))
        };
        let (client, connection) = runtime.block_on(connecting)?;
        Ok(Client {
            client: Some(client),
            connection: Some(connection),
            runtime,
        })
    }

    pub(super) fn batch_execute(&mut self, statements: &str) -> Result<(), Error> {
        self.drive(async |client| client.batch_execute(statements).await)
    }

    pub(super) fn query(
        &mut self,
        statement: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.drive(async |client| client.query(statement, values).await)
    }

    /// Runs a call together with the work of the connection. If the connection has an error, returns that
    /// one, since the call only reports that the connection is closed.
    fn drive<T>(
        &mut self,
        call: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Client {
            client,
            connection,
            runtime,
        } = self;
        let client = client.as_ref().expect("it is there until this is dropped");
        runtime.block_on(async {
            let mut call = pin!(call(client));
            poll_fn(|context| {
                if let Some(running) = connection
                    && let Poll::Ready(ended) = running.as_mut().poll(context)
                {
                    *connection = None;
                    ended?;
                }
                call.as_mut().poll(context)
            })
            .await
        })
    }
}

impl Drop for Client {
    /// Sends the end message and waits for the end of the connection, within the limits.
    fn drop(&mut self) {
        self.client = None;
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(connection); // no caller to report an error to
        }
    }
}
