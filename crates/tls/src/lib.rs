//! TLS of clients by rustls: whose certificates are trusted. That a certificate's owner has the key to
//! it is always checked, also where any certificate will do.

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

/// The certificates of a file in PEM; none is no error.
///
/// # Errors
/// When the file can't be read, or a certificate in it is damaged.
pub fn certificates_of(file: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    CertificateDer::pem_file_iter(file).and_then(Iterator::collect)
}

/// The certificates that this machine trusts; what can't be read of them is left out.
pub fn certificates_of_machine() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

/// These as authorities; those that are none are left out.
pub fn roots(certificates: impl IntoIterator<Item = CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    roots
}

/// Who checks that one of `roots` signed a certificate.
///
/// # Errors
/// When there is none.
pub fn authorities(
    roots: RootCertStore,
) -> Result<Arc<WebPkiServerVerifier>, VerifierBuilderError> {
    WebPkiServerVerifier::builder_with_provider(roots.into(), default_provider().into()).build()
}

/// The begin of a configuration, with rustls' own versions and ciphers.
///
/// # Errors
/// When the library's own terms don't fit each other.
pub fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, Error> {
    ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
}

/// What a server shows of itself.
#[derive(Debug)]
pub struct Presented<'a> {
    /// Its own certificate.
    pub certificate: &'a CertificateDer<'a>,
    /// The name by which it was asked for.
    pub name: &'a ServerName<'a>,
    between: &'a [CertificateDer<'a>],
    ocsp: &'a [u8],
    now: UnixTime,
}

impl Presented<'_> {
    /// Whether one of these signed it, for this name.
    ///
    /// # Errors
    /// What is wrong with it.
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

/// A configuration in which `judge` says which certificates are good.
///
/// # Errors
/// As [`builder`].
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
