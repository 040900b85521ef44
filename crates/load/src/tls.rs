//! TLS by rustls: whom to trust, and one side of a connection.

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

    /// For a server of this name: a host, an address, or either with a port.
    ///
    /// # Errors
    /// A sentence that says that no certificate can have it.
    pub fn of(&self, host: &str) -> Result<TlsTerms, String> {
        let name = name_of(host);
        let name = ServerName::try_from(name.to_string())
            .map_err(|_| format!("{name:?} is not a name that a certificate can have"))?;
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

/// Good is what one of this file signed, and what is in it: a certificate that signed itself is an
/// authority too, as `openssl req -x509` makes it; as that of a server the library refuses such.
fn given(
    file: &Path,
) -> Result<impl Fn(&Presented<'_>) -> Result<(), rustls::Error> + use<>, String> {
    let certificates = match certificates_of(file) {
        Ok(all) if all.is_empty() => {
            return Err(format!("{} has no certificate in it", file.display()));
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
                "its certificate is not signed by an authority that is trusted here: name one with --cacert, or take any \
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
