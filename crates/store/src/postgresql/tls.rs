//! TLS by rustls, and what `sslmode` makes of the server's certificate: `prefer` and `require` take
//! any, `verify-ca` one that a trusted authority signed, `verify-full` one that names the host, too.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use fathom_tls::{authorities, certificates_of, certificates_of_machine, judged_by};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::address::{Address, Mode};
use crate::Error;

/// Connects streams with one configuration.
#[derive(Clone)]
pub(super) struct Connector(tokio_rustls::TlsConnector);

pub(super) fn connector(address: &Address) -> Result<Connector, Error> {
    let wrong = |why: String| Error::Unusable {
        store: address.name.clone(),
        why,
    };
    let config = match address.mode >= Mode::VerifyCa {
        true => {
            let authorities = authorities(trusted(address)?);
            let authorities = authorities.map_err(|error| wrong(error.to_string()))?;
            let mode = address.mode;
            // The name is looked at last, when everything else was found right.
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
    let config: ClientConfig = config.map_err(|error| wrong(error.to_string()))?;
    Ok(Connector(Arc::new(config).into()))
}

/// The certificates of `sslrootcert`, else those that this machine trusts.
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
                "{whence} has no certificate that could be trusted; name a file with ?sslrootcert="
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
        let host = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake(self.0.clone(), host))
    }
}

/// One handshake to come.
pub(super) struct Handshake(tokio_rustls::TlsConnector, ServerName<'static>);

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.0.connect(self.1, stream).await?)) })
    }
}

/// An encrypted stream.
pub(super) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    /// None: it needs a reader of certificates, and protects only where `sslmode` trusts any.
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
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
