//! Tests stores on servers that can't be reached, refuse the user, or hold other data. Also tests TLS.

use fathom_store::Location;

use crate::server::{PASSWORD, Places as _, Server};
use crate::support::{Place, draft, values};

#[test]
fn a_server_that_is_not_there_is_said() {
    // Port 1 has no listener and is never assigned to a connection.
    let port = 1;
    let place = Place::at(
        Location::parse(&format!("postgres://joe:{PASSWORD}@127.0.0.1:{port}/perf")).unwrap(),
    );
    let said = place.refused();
    assert!(
        said.contains(&format!("joe@127.0.0.1:{port}/perf can't be reached: ")),
        "{said}"
    );
    assert!(
        said.contains("Connection refused") && !said.contains(PASSWORD),
        "{said}"
    );
}

#[test]
fn servers_that_refuse_are_understood() {
    let Some(server) = Server::start() else {
        return;
    };
    let address = |user: &str, password: &str, rest: &str| {
        let port = server.port;
        let text = format!("postgres://{user}:{password}@127.0.0.1:{port}/{rest}");
        Place::at(Location::parse(&text).unwrap())
    };
    let place = server.place("used");
    place.store().save(&draft(&[("parse", 1.0)], 1)).unwrap();
    let mut client = server.client();

    let said = address("fathom", "wrong-word", "postgres").refused();
    assert!(
        said.contains("refuses the user \"fathom\"") && said.contains("~/.pgpass"),
        "{said}"
    );
    assert!(!said.contains("wrong-word"), "{said}");
    let said = address("fathom", PASSWORD, "nowhere").refused();
    assert!(
        said.contains("\"nowhere\" does not exist") && said.contains("createdb"),
        "{said}"
    );

    client
        .batch_execute("CREATE SCHEMA taken; CREATE TABLE taken.mail (text TEXT)")
        .unwrap();
    let said = server.place("taken").refused();
    assert!(
        said.contains("is not a store of Fathom") && said.contains("\"taken\""),
        "{said}"
    );

    drop(server.place("future").store());
    client
        .batch_execute("INSERT INTO future.fathom_form VALUES (99)")
        .unwrap();
    assert!(
        server
            .place("future")
            .refused()
            .contains("newer Fathom (format 99;")
    );

    client
        .batch_execute(&format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'"))
        .unwrap();
    let said = address("guest", PASSWORD, "postgres?schema=guests").refused();
    assert!(
        said.contains("permission denied") && said.contains("?schema=NAME"),
        "{said}"
    );
    client
        .batch_execute("CREATE SCHEMA guests AUTHORIZATION guest")
        .unwrap();
    let guest = address("guest", PASSWORD, "postgres?schema=guests");
    guest.store().save(&draft(&[("parse", 1.0)], 1)).unwrap();

    let options = "schema=used&options=-c%20default_transaction_read_only%3Don";
    let mut reader = server.at(options).store();
    assert_eq!(values(&mut reader, "parse"), [1.0]);
    let said = reader
        .save(&draft(&[("parse", 2.0)], 2))
        .unwrap_err()
        .to_string();
    assert!(said.contains("read-only"), "{said}");

    let lock = "BEGIN; SELECT pg_advisory_xact_lock(1179932749, hashtext('used'))";
    client.batch_execute(lock).unwrap();
    let wait = fathom_store::Options {
        wait: std::time::Duration::from_millis(50),
        ..Default::default()
    };
    let mut waiting = fathom_store::Store::open_with(&place.location, wait).unwrap();
    let said = waiting
        .save(&draft(&[("parse", 2.0)], 2))
        .unwrap_err()
        .to_string();
    assert!(said.contains("another process has been writing"), "{said}");
    client.batch_execute("ROLLBACK").unwrap();
    assert!(
        waiting.save(&draft(&[("parse", 2.0)], 2)).unwrap().new,
        "the connection is still good"
    );

    // Connect by the socket, which needs no password; later the server is lost.
    let folder = server.socket().display().to_string().replace('/', "%2F");
    let text = format!(
        "postgres://fathom@{folder}:{}/postgres?schema=used&sslmode=require",
        server.port
    );
    let mut local = Place::at(Location::parse(&text).unwrap()).store();
    assert_eq!(values(&mut local, "parse"), [1.0, 2.0]);
    encrypted(&server);
    drop(client);
    drop(server);
    let said = local
        .save(&draft(&[("parse", 3.0)], 3))
        .unwrap_err()
        .to_string();
    assert!(said.contains("can't be reached"), "{said}");
}

/// Tests that `sslmode` works as in psql.
fn encrypted(server: &Server) {
    if !server.tls {
        fathom_test_log::skipped("openssl is not installed");
        return;
    }
    let authority = server.authority().display().to_string();
    let at = |host: &str, query: &str| {
        let port = server.port;
        let text =
            format!("postgres://fathom:{PASSWORD}@{host}:{port}/postgres?schema=used&{query}");
        Place::at(Location::parse(&text).unwrap())
    };
    // The certificate only contains `localhost`.
    for (host, query) in [
        ("127.0.0.1", "sslmode=require".to_owned()),
        (
            "127.0.0.1",
            format!("sslmode=verify-ca&sslrootcert={authority}"),
        ),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={authority}"),
        ),
    ] {
        assert_eq!(
            values(&mut at(host, &query).store(), "parse"),
            [1.0, 2.0],
            "{query}"
        );
    }
    for (host, query, why) in [
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={authority}"),
            "certificate not valid for name",
        ),
        ("localhost", "sslmode=verify-full".to_owned(), "certificate"),
        (
            "localhost",
            "sslmode=verify-ca&sslrootcert=/nowhere.crt".to_owned(),
            "sslrootcert /nowhere.crt",
        ),
    ] {
        let said = at(host, &query).refused();
        assert!(said.contains(why), "{query}: {said}");
    }
    let mut client = server.client();
    let plain = "SELECT COUNT(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND usename = 'fathom'";
    let open = at("127.0.0.1", "sslmode=require").store();
    let count =
        |client: &mut postgres::Client| client.query_one(plain, &[]).unwrap().get::<_, i64>(0);
    assert!(count(&mut client) >= 1, "nothing is encrypted");
    drop(open);
}
