//! TLS with rustls: which servers to trust, and the client side of a connection.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_tls::{
    Presented, authorities, certificates_of, certificates_of_machine, judged_by, roots,
};
use rustls::client::{Resumption, verify_server_name};
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, ClientConnection};

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates that this machine trusts.
    Machine,
    /// Certificates in this file, or signed by one of them.
    File(PathBuf),
    /// Any certificate: the measurement is about the cost of TLS, not about trust.
    Anyone,
}

/// TLS settings. Session tickets are not kept, so each handshake is a full one and costs the same.
#[derive(Debug, Clone)]
pub struct Tls(Arc<ClientConfig>);

/// TLS settings for a server of a given name.
#[derive(Debug, Clone)]
pub struct TlsTerms {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Tls {
    /// Creates the settings. With `http2`, HTTP/2 is the protocol offered.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the certificates.
    pub fn new(trust: &Trust, http2: bool) -> Result<Tls, String> {
        let config = match trust {
            Trust::Machine => fathom_tls::builder().map(|builder| {
                builder
                    .with_root_certificates(roots(certificates_of_machine()))
                    .with_no_client_auth()
            }),
            Trust::Anyone => judged_by(|_| Ok(())),
            Trust::File(file) => judged_by(given(file)?),
        };
        let mut config = config.map_err(|error| error.to_string())?;
        config.alpn_protocols = vec![if http2 {
            b"h2".to_vec()
        } else {
            b"http/1.1".to_vec()
        }];
        config.resumption = Resumption::disabled();
        Ok(Tls(Arc::new(config)))
    }

    /// Returns the settings for a server of this name: a host, an address, or either with a port.
    ///
    /// # Errors
    /// A sentence that says that no certificate can have this name.
    pub fn of(&self, host: &str) -> Result<TlsTerms, String> {
        let name = name_of(host);
        let name = ServerName::try_from(name.to_string())
            .map_err(|_| format!("{name:?} is not a valid name for a certificate"))?;
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

/// Returns a host name without its port.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    match host.rsplit_once(':') {
        Some((name, _)) if !name.contains(':') => name,
        _ => host,
    }
}

/// Accepts certificates in this file and those signed by one of them. A self-signed certificate from `openssl
/// req -x509` is also an authority, which the library rejects as a server's certificate.
fn given(
    file: &Path,
) -> Result<impl Fn(&Presented<'_>) -> Result<(), rustls::Error> + use<>, String> {
    let certificates = match certificates_of(file) {
        Ok(all) if all.is_empty() => {
            return Err(format!("{} contains no certificate", file.display()));
        }
        Ok(all) => all,
        Err(error) => return Err(format!("can't read {}: {error}", file.display())),
    };
    let authorities = authorities(roots(certificates.iter().cloned()))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(
        move |shown: &Presented<'_>| match certificates.contains(shown.certificate) {
            true => {
                verify_server_name(&ParsedCertificate::try_from(shown.certificate)?, shown.name)
            }
            false => shown.signed_by(&authorities),
        },
    )
}

/// Converts a TLS error to an I/O error.
pub(crate) fn broken(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Returns a sentence that explains a TLS error and what to do; `None` if the error isn't from TLS.
pub(crate) fn reason(error: &io::Error) -> Option<&'static str> {
    use rustls::{AlertDescription, Error};
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => {
                "its certificate is not signed by an authority that is trusted here: name one with --cacert, or \
                 accept any with --insecure"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired; --insecure accepts any"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name; --insecure accepts any"
            }
            // Such as a self-signed certificate that is also an authority.
            _ => {
                "its certificate is not trusted here: name it with --cacert, or accept any with --insecure"
            }
        },
        Error::InvalidMessage(_) => "its data is not TLS; should its address begin with http://?",
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "it doesn't support the requested version of HTTP"
        }
        Error::AlertReceived(_) => "it refused the handshake with an alert",
        Error::PeerIncompatible(_) => "it and Fathom have no TLS version or cipher in common",
        _ => "the handshake failed",
    })
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
        assert!(why.contains("/dev/null contains no certificate"), "{why}");
        let missing = Trust::File("/no/such/file".into());
        assert!(Tls::new(&missing, true).unwrap_err().contains("can't read"));
    }
}
