//! TLS by rustls, and what `sslmode` makes of the server's certificate: `prefer` and `require` take
//! any, `verify-ca` one that a trusted authority signed, `verify-full` one that names the host, too.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::address::{Address, Mode};
use crate::Error;

/// Connects streams with one configuration.
#[derive(Clone)]
pub(super) struct Connector(tokio_rustls::TlsConnector);

pub(super) fn connector(address: &Address) -> Result<Connector, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |why: String| Error::Unusable {
        store: address.name.clone(),
        why,
    };
    let authorities = match address.mode >= Mode::VerifyCa {
        true => {
            let built = WebPkiServerVerifier::builder_with_provider(
                trusted(address)?.into(),
                provider.clone(),
            );
            Some(built.build().map_err(|error| wrong(error.to_string()))?)
        }
        false => None,
    };
    let check = Check {
        mode: address.mode,
        authorities,
        provider: provider.clone(),
    };
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(error.to_string()))?;
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(check))
        .with_no_client_auth();
    Ok(Connector(Arc::new(config).into()))
}

/// The certificates of `sslrootcert`, else those that this machine trusts.
fn trusted(address: &Address) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    let (found, whence) = match &address.root {
        Some(file) => {
            let unreadable = |error: rustls::pki_types::pem::Error| Error::Unusable {
                store: address.name.clone(),
                why: format!("sslrootcert {}: {error}", file.display()),
            };
            let all = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
            (all.map_err(unreadable)?, file.display().to_string())
        }
        None => (
            rustls_native_certs::load_native_certs().certs,
            "this machine".to_owned(),
        ),
    };
    store.add_parsable_certificates(found);
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

#[derive(Debug)]
struct Check {
    mode: Mode,
    /// There from `verify-ca` on.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Check {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        // The name is looked at last, when everything else was found right.
        match authorities.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.mode == Mode::VerifyCa => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
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
