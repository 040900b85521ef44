//! Stores on the PostgreSQL server that the tests share.

use fathom_store::Location;
pub(crate) use fathom_test_postgres::{PASSWORD, Server};

use crate::support::Place;

pub(crate) trait Places {
    /// Returns a separate schema for one test.
    fn place(&self, schema: &str) -> Place {
        self.at(&format!("schema={schema}"))
    }

    fn at(&self, query: &str) -> Place;

    /// Returns a direct connection to the database.
    fn client(&self) -> postgres::Client;
}

impl Places for Server {
    fn at(&self, query: &str) -> Place {
        Place::at(Location::parse(&self.address(query)).unwrap())
    }

    fn client(&self) -> postgres::Client {
        let mut config = postgres::Config::new();
        config
            .host_path(self.socket())
            .port(self.port)
            .user("fathom")
            .dbname("postgres");
        config.connect(postgres::NoTls).unwrap()
    }
}
