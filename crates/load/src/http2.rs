//! HTTP/2 with h2, polled by the same loop: several concurrent requests on each connection.

mod connections;
mod exchange;
mod talk;

use bytes::Bytes;
pub(crate) use connections::Http2;
pub(crate) use exchange::Exchange;
pub(crate) use talk::{Talk, refusal};

/// A request, ready to be sent.
#[derive(Debug, Clone)]
pub struct Http2Request {
    pub(crate) head: http::Request<()>,
    pub(crate) body: Bytes,
}
