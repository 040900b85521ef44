//! Standard input that reports when its writer is gone.

use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::io::StdioReader;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// Reads the client's messages. End of file means that the client no longer wants its results.
pub(crate) struct Stdin {
    pub from: StdioReader,
    pub is_over: watch::Sender<bool>,
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.from).poll_read(context, buffer);
        if let Poll::Ready(read) = &polled
            && (read.is_err() || buffer.filled().len() == before)
        {
            // If there is no receiver, the server is gone as well.
            let _ = self.is_over.send(true);
        }
        polled
    }
}
