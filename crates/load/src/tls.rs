//! TLS by rustls: whom to trust, and one side of a connection.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, ConfigBuilder, DigitallySignedStruct,
    RootCertStore, SignatureScheme, WantsVerifier,
};

/// Which certificates of a server are good ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those that this machine trusts.
    Machine,
    /// Those that one of this file signed, or that are in it.
    File(PathBuf),
    /// Any: what is measured is the work of TLS, not its promise.
    Anyone,
}

/// How to speak TLS. Tickets for later sessions are not kept: each handshake is a whole one, and costs
/// the same.
#[derive(Debug, Clone)]
pub struct Tls(Arc<ClientConfig>);

/// How to speak TLS with a server of some name.
#[derive(Debug, Clone)]
pub struct TlsTerms {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// With `http2` that is the protocol that is offered.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the certificates.
    pub fn new(trust: &Trust, http2: bool) -> Result<Tls, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = match trust {
            Trust::Machine => builder
                .with_root_certificates(of_machine())
                .with_no_client_auth(),
            Trust::Anyone => with_check(builder, None, provider),
            Trust::File(file) => with_check(builder, Some(given(file, &provider)?), provider),
        };
        config.alpn_protocols = vec![if http2 {
            b"h2".to_vec()
        } else {
            b"http/1.1".to_vec()
        }];
        config.resumption = Resumption::disabled();
        Ok(Tls(Arc::new(config)))
    }

    /// For a server of this name: a host, an address, or either with a port.
    ///
    /// # Errors
    /// A sentence that says that no certificate can have it.
    pub fn of(&self, host: &str) -> Result<TlsTerms, String> {
        let name = name_of(host);
        let name = ServerName::try_from(name.to_string())
            .map_err(|_| format!("{name:?} is no name that a certificate can have"))?;
        Ok(TlsTerms {
            config: Arc::clone(&self.0),
            name,
        })
    }
}

impl TlsTerms {
    pub(crate) fn connection(&self) -> io::Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone()).map_err(broken)
    }
}

/// The name of a host without its port.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    match host.rsplit_once(':') {
        Some((name, _)) if !name.contains(':') => name,
        _ => host,
    }
}

fn of_machine() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn given(file: &Path, provider: &Arc<CryptoProvider>) -> Result<Given, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let certificates = match all {
        Ok(all) if all.is_empty() => {
            return Err(format!("{} has no certificate in it", file.display()));
        }
        Ok(all) => all,
        Err(error) => return Err(format!("can't read {}: {error}", file.display())),
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let built = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider));
    let authorities = built
        .build()
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(Given {
        certificates,
        authorities,
    })
}

fn with_check(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
    given: Option<Given>,
    provider: Arc<CryptoProvider>,
) -> ClientConfig {
    builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Check { given, provider }))
        .with_no_client_auth()
}

/// An error of TLS as one of the connection.
pub(crate) fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// What an error of a connection says of TLS, in words that say what to do; `None` if it is none.
pub(crate) fn reason(error: &io::Error) -> Option<&'static str> {
    use rustls::{AlertDescription, Error};
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => {
                "nobody who is trusted here signed its certificate: name who did with --cacert, or take any \
                 with --insecure"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired; --insecure takes any"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name; --insecure takes any"
            }
            // Such as one that signed itself and is an authority, too.
            _ => {
                "its certificate is none that is trusted here: name it with --cacert, or take any with \
                 --insecure"
            }
        },
        Error::InvalidMessage(_) => "what it sends is no TLS; is it http:// ?",
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "it doesn't speak the version of HTTP that was asked for"
        }
        Error::AlertReceived(_) => "it refuses with an alert",
        Error::PeerIncompatible(_) => "it and Fathom have no version or cipher of TLS in common",
        _ => "the handshake went wrong",
    })
}

/// Which certificates are good. That a certificate's owner has the key to it is always checked: that
/// is work which belongs to a handshake.
#[derive(Debug)]
struct Check {
    /// Those of a file; any without.
    given: Option<Given>,
    provider: Arc<CryptoProvider>,
}

#[derive(Debug)]
struct Given {
    certificates: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
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
        let Some(given) = &self.given else {
            return Ok(ServerCertVerified::assertion());
        };
        // One that signed itself is an authority too, as `openssl req -x509` makes it; as the
        // certificate of a server the library refuses such.
        if given.certificates.contains(certificate) {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        let authorities = &given.authorities;
        authorities.verify_server_cert(certificate, between, name, ocsp, now)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_host_is_without_its_port() {
        let names = [
            "localhost:80",
            "localhost",
            "127.0.0.1:1",
            "[::1]:443",
            "[::1]",
            "::1",
        ];
        let found = names.map(name_of);
        assert_eq!(
            found,
            ["localhost", "localhost", "127.0.0.1", "::1", "::1", "::1"]
        );
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let none = Trust::File("/dev/null".into());
        let why = Tls::new(&none, false).unwrap_err();
        assert!(why.contains("/dev/null has no certificate"), "{why}");
        let missing = Trust::File("/no/such/file".into());
        assert!(Tls::new(&missing, true).unwrap_err().contains("can't read"));
    }
}
