//! TLS clients with rustls, and the certificates that they trust. The peer must always prove that it has the
//! key of its certificate, even if any certificate is accepted.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    WantsVerifier,
};

/// Returns the certificates of a PEM file; a file without any is not an error.
///
/// # Errors
/// If the file can't be read, or a certificate in it is damaged.
pub fn certificates_of(file: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    CertificateDer::pem_file_iter(file).and_then(Iterator::collect)
}

/// Returns the certificates that this machine trusts, except unreadable ones.
pub fn certificates_of_machine() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

/// Returns a store of authorities with these certificates, except those that can't be an authority.
pub fn roots(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    roots
}

/// Returns a verifier that checks that one of `roots` signed a certificate.
///
/// # Errors
/// If there are no roots.
pub fn authorities(
    roots: RootCertStore,
) -> Result<Arc<WebPkiServerVerifier>, VerifierBuilderError> {
    WebPkiServerVerifier::builder_with_provider(roots.into(), default_provider().into()).build()
}

/// Starts a client configuration with rustls' default versions and ciphers.
///
/// # Errors
/// If the library's own settings conflict.
pub fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, Error> {
    ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
}

/// The identity that a server presents.
#[derive(Debug)]
pub struct Presented<'a> {
    /// The server's own certificate.
    pub certificate: &'a CertificateDer<'a>,
    /// The name under which the client contacted the server.
    pub name: &'a ServerName<'a>,
    between: &'a [CertificateDer<'a>],
    ocsp: &'a [u8],
    now: UnixTime,
}

impl Presented<'_> {
    /// Checks that one of these authorities signed the certificate for this name.
    ///
    /// # Errors
    /// The reason why it isn't valid.
    pub fn signed_by(&self, authorities: &WebPkiServerVerifier) -> Result<(), Error> {
        authorities
            .verify_server_cert(
                self.certificate,
                self.between,
                self.name,
                self.ocsp,
                self.now,
            )
            .map(drop)
    }
}

/// Returns a configuration in which `judge` decides which certificates are accepted.
///
/// # Errors
/// Same as [`builder`].
pub fn judged_by<J>(judge: J) -> Result<ClientConfig, Error>
where
    J: Fn(&Presented<'_>) -> Result<(), Error> + Send + Sync + 'static,
{
    let provider = default_provider().into();
    let verifier = Arc::new(Verifier { judge, provider });
    Ok(builder()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

struct Verifier<J> {
    judge: J,
    provider: Arc<CryptoProvider>,
}

impl<J> fmt::Debug for Verifier<J> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Verifier")
    }
}

impl<J: Fn(&Presented<'_>) -> Result<(), Error> + Send + Sync> ServerCertVerifier for Verifier<J> {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        (self.judge)(&Presented {
            certificate,
            between,
            name,
            ocsp,
            now,
        })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
