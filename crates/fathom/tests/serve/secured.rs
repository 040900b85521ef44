//! TLS with Python's server and a certificate that openssl made.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::world::{fathom, quick, server, stderr, stdout};

/// Creates a self-signed certificate for `localhost` in the usual way, with its key in the same file.
fn certificate(folder: &Path) -> Option<String> {
    let (key, certificate) = (folder.join("key.pem"), folder.join("cert.pem"));
    let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1";
    let made = Command::new("openssl")
        .args(line.split(' '))
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    match made {
        Ok(output) if output.status.success() => {}
        _ => {
            fathom_test_log::skipped("there is no openssl to make a certificate");
            return None;
        }
    }
    let both = folder.join("both.pem");
    let text = [key, certificate].map(|file| std::fs::read(file).unwrap());
    std::fs::write(&both, text.concat()).unwrap();
    Some(both.display().to_string())
}

fn run(options: &[&str], certificate: &str) -> Output {
    let mut command = fathom(&quick(options), &server("good"));
    command.env("CERTIFICATE", certificate).output().unwrap()
}

#[test]
fn a_server_with_tls_is_launched_and_loaded_and_its_handshakes_have_their_stamps() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = certificate(folder.path()) else {
        return;
    };
    for trust in [&["--insecure"][..], &["--cacert", &file]] {
        let output = run(&[&["--tls"], trust].concat(), &file);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 4)), "{code:?}: {}", stderr(&output));
        let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(all["conditions"]["tls"], true);
        let served = &all["servers"][0];
        for run in served["cold"]["runs"].as_array().unwrap() {
            let rungs = ["accepted_ms", "secured_ms", "first_byte_ms"];
            let rungs = rungs.map(|rung| run[rung].as_f64().unwrap());
            assert!(rungs.is_sorted(), "{rungs:?}");
        }
        for load in served["load"].as_array().unwrap() {
            assert_eq!(
                (&load["errors"], &load["other_bodies"]),
                (&0.into(), &0.into())
            );
            assert!(load["completed"].as_u64() > Some(0));
            assert!(load["handshake_ms"]["max"].as_f64() > Some(0.0), "{load}");
        }
    }
}

#[test]
fn a_certificate_that_nobody_knows_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = certificate(folder.path()) else {
        return;
    };
    let unknown = run(&["--tls", "--timeout", "20s"], &file);
    assert_eq!(unknown.status.code(), Some(3), "{}", stderr(&unknown));
    let said = stderr(&unknown);
    assert!(
        said.contains("--cacert") && said.contains("--insecure"),
        "{said}"
    );
    let plain = fathom(
        &quick(&["--tls", "--insecure", "--timeout", "10s"]),
        &server("good"),
    );
    let plain = { plain }.output().unwrap();
    assert_eq!(plain.status.code(), Some(3), "{}", stderr(&plain));
    assert!(
        stderr(&plain).contains("does not speak TLS"),
        "{}",
        stderr(&plain)
    );
}

#[test]
fn options_of_tls_without_it_and_the_other_way_round_are_refused() {
    let cases = [
        (vec!["--insecure"], "give --tls"),
        (
            vec!["--tls", "--cacert", "/dev/null"],
            "contains no certificate",
        ),
        (
            vec!["--http2", "-H", "Connection: close"],
            "HTTP/2 has no header",
        ),
        (vec!["--http2", "--streams", "0"], "1 to 1000"),
    ];
    for (options, wanted) in cases {
        let output = fathom(&options, &server("good")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(wanted),
            "{options:?}: {}",
            stderr(&output)
        );
    }
}
