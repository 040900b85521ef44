//! TLS by rustls. Certificates are checked according to `sslmode`: `prefer` and `require` accept any
//! certificate, `verify-ca` requires a trusted authority, and `verify-full` also the host's name.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use fathom_tls::{authorities, certificates_of, certificates_of_machine, judged_by};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_postgres::config::SslNegotiation;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

use super::address::{Address, Mode};
use super::guard::{Guard, Limits};
use crate::Error;

/// Negotiates TLS or a plain connection with the server, and guards the stream. To the client library, both
/// look like TLS, so both kinds of streams go through here.
#[derive(Clone)]
pub(super) struct Connector {
    mode: Mode,
    /// `None` if TLS is disabled.
    tls: Option<tokio_rustls::TlsConnector>,
    /// Whether TLS starts with the first byte.
    direct: bool,
    limits: Limits,
}

pub(super) fn connector(address: &Address, limits: Limits) -> Result<Connector, Error> {
    let direct = address.config.get_ssl_negotiation() == SslNegotiation::Direct;
    let tls = match address.mode {
        Mode::Disable => None,
        _ => Some(Arc::new(configuration(address)?).into()),
    };
    Ok(Connector {
        mode: address.mode,
        tls,
        direct,
        limits,
    })
}

fn configuration(address: &Address) -> Result<ClientConfig, Error> {
    let wrong = |why: String| Error::Unusable {
        store: address.name.clone(),
        why,
    };
    let config = match address.mode >= Mode::VerifyCa {
        true => {
            let authorities = authorities(trusted(address)?);
            let authorities = authorities.map_err(|error| wrong(error.to_string()))?;
            let mode = address.mode;
            // The name is checked last, after all other checks have succeeded.
            judged_by(move |shown| match shown.signed_by(&authorities) {
                Err(rustls::Error::InvalidCertificate(
                    CertificateError::NotValidForName
                    | CertificateError::NotValidForNameContext { .. },
                )) if mode == Mode::VerifyCa => Ok(()),
                checked => checked,
            })
        }
        false => judged_by(|_| Ok(())),
    };
    config.map_err(|error| wrong(error.to_string()))
}

/// Loads the certificates of `sslrootcert`, or else the certificates that this machine trusts.
fn trusted(address: &Address) -> Result<RootCertStore, Error> {
    let (found, whence) = match &address.root {
        Some(file) => {
            let unreadable = |error: rustls::pki_types::pem::Error| Error::Unusable {
                store: address.name.clone(),
                why: format!("sslrootcert {}: {error}", file.display()),
            };
            let all = certificates_of(file).map_err(unreadable)?;
            (all, file.display().to_string())
        }
        None => (certificates_of_machine(), "this machine".to_owned()),
    };
    let store = fathom_tls::roots(found);
    match store.is_empty() {
        true => Err(Error::Unusable {
            store: address.name.clone(),
            why: format!(
                "{whence} contains no usable root certificate; name a file with ?sslrootcert="
            ),
        }),
        false => Ok(store),
    }
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        Ok(self.handshake(host))
    }
}

impl Connector {
    /// Returns a handshake with this host.
    pub(super) fn handshake(&self, host: &str) -> Handshake {
        Handshake(self.clone(), host.to_owned())
    }
}

/// A handshake with a host that has not started yet.
pub(super) struct Handshake(Connector, String);

impl Handshake {
    async fn agree<S>(self, mut stream: S) -> io::Result<Inner<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Handshake(
            Connector {
                mode, tls, direct, ..
            },
            host,
        ) = self;
        let Some(tls) = tls else {
            return Ok(Inner::Plain(stream));
        };
        if !direct {
            stream.write_all(&SSL_REQUEST).await?;
            let mut answer = [0];
            stream.read_exact(&mut answer).await?;
            match (answer, mode) {
                ([b'S'], _) => {}
                (_, Mode::Prefer) => return Ok(Inner::Plain(stream)),
                _ => return Err(io::Error::other("server does not support TLS")),
            }
        }
        let host = ServerName::try_from(host).map_err(io::Error::other)?;
        Ok(Inner::Tls(Box::new(tls.connect(host, stream).await?)))
    }
}

/// A TLS request: its length of eight bytes, and its code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let limits = self.0.limits.clone();
            let agreed = self.agree(stream);
            let inner = limits.in_time(agreed).await?;
            let guard = Guard::new(limits);
            Ok(Stream { inner, guard })
        })
    }
}

/// A guarded stream.
pub(super) struct Stream<S> {
    inner: Inner<S>,
    guard: Guard,
}

enum Inner<S> {
    Plain(S),
    Tls(Box<tokio_rustls::client::TlsStream<S>>),
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    /// Doesn't support channel binding: it requires parsing certificates, and helps only if `sslmode` trusts
    /// any certificate.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.guard.in_time(context)?;
        let before = buffer.filled().len();
        let read = match &mut self.inner {
            Inner::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Inner::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        if let Poll::Ready(Ok(())) = &read {
            self.guard.look_at(&buffer.filled()[before..])?;
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.guard.in_time(context)?;
        match &mut self.inner {
            Inner::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Inner::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.guard.in_time(context)?;
        match &mut self.inner {
            Inner::Plain(stream) => Pin::new(stream).poll_flush(context),
            Inner::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.guard.in_time(context)?;
        match &mut self.inner {
            Inner::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Inner::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
