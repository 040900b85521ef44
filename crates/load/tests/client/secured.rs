//! TLS under both versions of HTTP, with a certificate that openssl made.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_load::clock::now;
use fathom_load::{Address, Client, Failing, RequestPlan, Task, Tls, Trust, ask};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::http2::{Asked, Terms, connection, plan};
use crate::world::{self, MS, closed, serve_async};

/// Creates a server certificate for `localhost` and its key.
fn identity(folder: &Path) -> Option<(CertificateDer<'static>, PrivateKeyDer<'static>)> {
    let (key, certificate) = (folder.join("key.pem"), folder.join("certificate.pem"));
    let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                -subj /CN=localhost -addext subjectAltName=DNS:localhost";
    let mut command = Command::new("openssl");
    command.args(line.split(' ')).arg("-keyout").arg(&key);
    let made = command.arg("-out").arg(&certificate).output();
    if !made.is_ok_and(|output| output.status.success()) {
        fathom_test_log::skipped("there is no openssl to make a certificate");
        return None;
    }
    Some((
        CertificateDer::from_pem_file(certificate).unwrap(),
        PrivateKeyDer::from_pem_file(key).unwrap(),
    ))
}

/// Serves TLS and the negotiated protocol.
fn server(folder: &Path, protocols: &[&[u8]]) -> Option<Address> {
    let (certificate, key) = identity(folder)?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Some(serve_async(move |stream| speak(acceptor.clone(), stream)))
}

async fn speak(acceptor: TlsAcceptor, stream: tokio::net::TcpStream) {
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return connection(stream, Terms::default(), Arc::new(Asked::default())).await;
    }
    let mut asked = [0; 4096];
    while stream.read(&mut asked).await.is_ok_and(|got| got > 0) {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello";
        if stream.write_all(text).await.is_err() {
            return;
        }
    }
}

fn task(address: &Address, plan: &RequestPlan, trust: &Trust) -> Task {
    let tls = Tls::new(trust, plan.http2)
        .unwrap()
        .of("localhost:1")
        .unwrap();
    Task {
        requests: plan.requests("localhost", true).unwrap(),
        tls: Some(tls),
        streams: 3,
        ..world::task(address.clone(), plan)
    }
}

fn first(task: &Task, plan: &RequestPlan) -> Result<u64, Failing> {
    let until = now() + 60_000 * MS;
    let request = task.requests[0].clone();
    let first = ask(
        &task.address,
        task.tls.as_ref(),
        request,
        plan.reader(),
        until,
    );
    let first = first.map_err(|why| why.0)?;
    let secured = first.secured.unwrap();
    assert!(first.connected <= secured && secured <= first.first_byte);
    Ok(first.expected.answer.body_bytes)
}

#[test]
fn both_versions_of_http_go_over_tls_and_each_handshake_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(address) = server(folder.path(), &[b"h2", b"http/1.1"]) else {
        return;
    };
    let given = Trust::File(folder.path().join("certificate.pem"));
    let plain = RequestPlan::default();
    let each_anew = RequestPlan {
        keep_alive: false,
        ..RequestPlan::default()
    };
    for plan in [plan("/"), plan("/big"), plain, each_anew] {
        let task = task(&address, &plan, &given);
        assert!(first(&task, &plan).unwrap() >= 5);
        let stop = AtomicBool::new(false);
        let mut client = Client::new(Arc::new(task), 2).unwrap();
        client.connect(&stop).unwrap().unwrap();
        let outcome = client.run(&closed(200 * MS), &stop, &mut |_| {}).unwrap();
        let totals = &outcome.totals;
        assert_eq!(totals.errors(), 0, "{plan:?}: {:?}", totals.failed);
        assert!(totals.completed > 0);
        let handshakes = client.making.securing.count();
        match plan.keep_alive {
            true => assert_eq!((handshakes, outcome.connects), (2, 0)),
            false => assert_eq!(handshakes, outcome.connects),
        }
    }
}

#[test]
fn who_is_not_trusted_or_speaks_another_version_gets_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let Some(address) = server(folder.path(), &[b"http/1.1"]) else {
        return;
    };
    let plain = RequestPlan::default();
    let unknown = task(&address, &plain, &Trust::Machine);
    assert_eq!(first(&unknown, &plain), Err(Failing::Handshake));
    let anyone = task(&address, &plain, &Trust::Anyone);
    assert_eq!(first(&anyone, &plain), Ok(5));
    let by_http2 = task(&address, &plan("/"), &Trust::Anyone);
    assert_eq!(first(&by_http2, &plan("/")), Err(Failing::Handshake));
    let outcome = world::run(by_http2, 2, &closed(50 * MS));
    assert_eq!(
        outcome.totals.failed[Failing::Handshake as usize],
        outcome.totals.completed
    );
    // A name that isn't in the certificate.
    let given = Trust::File(folder.path().join("certificate.pem"));
    let other = Task {
        tls: Some(Tls::new(&given, false).unwrap().of("example.org").unwrap()),
        ..task(&address, &plain, &given)
    };
    assert_eq!(first(&other, &plain), Err(Failing::Handshake));
}
