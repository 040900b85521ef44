//! One outstanding request on an HTTP/2 connection, and its response.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use h2::RecvStream;
use h2::client::ResponseFuture;

use super::Http2Request;
use super::talk::Talk;
use crate::response::{Answer, Body};

/// Whether h2 has news for this request.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

enum State {
    Head(ResponseFuture),
    Body(RecvStream),
}

/// A slot for one concurrent request.
pub(crate) struct Exchange {
    flag: Arc<Flag>,
    waker: Waker,
    state: Option<State>,
    answer: Answer,
}

impl Exchange {
    pub(crate) fn new() -> Exchange {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        Exchange {
            waker: Arc::clone(&flag).into(),
            flag,
            state: None,
            answer: NOTHING,
        }
    }

    /// Passes a request to h2, which sends it when the connection is driven.
    ///
    /// # Errors
    /// If the connection accepts no more requests.
    pub(crate) fn begin(&mut self, request: &Http2Request, talk: &Talk) -> Result<(), h2::Error> {
        // A separate sender for each: otherwise a second request would have to wait until the server allows
        // the first.
        let mut sender = talk.sender.clone();
        let (answer, mut body) =
            sender.send_request(request.head.clone(), request.body.is_empty())?;
        if !request.body.is_empty() {
            body.send_data(request.body.clone(), true)?;
        }
        self.answer = NOTHING;
        self.state = Some(State::Head(answer));
        // The first poll registers the waker.
        self.flag.0.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.state.is_some()
    }

    /// Returns whether the head of the response, or all of it, has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.answer.status != 0
    }

    /// Returns whether there may be news, and resets the flag.
    pub(crate) fn take_flag(&self) -> bool {
        self.flag.0.load(Ordering::Relaxed) && self.flag.0.swap(false, Ordering::Relaxed)
    }

    /// Forgets the request, and asks the server to stop if it hasn't responded.
    pub(crate) fn forget(&mut self) {
        self.state = None;
    }

    /// Takes the parts of the response that have arrived; returns `None` while it is incomplete.
    pub(crate) fn go_on(&mut self, body: &mut impl Body) -> Option<Result<Answer, h2::Error>> {
        let mut context = Context::from_waker(&self.waker);
        loop {
            match self.state.as_mut()? {
                State::Head(answer) => match Pin::new(answer).poll(&mut context) {
                    Poll::Pending => return None,
                    Poll::Ready(Ok(answer)) => {
                        self.answer.status = answer.status().as_u16();
                        self.state = Some(State::Body(answer.into_body()));
                    }
                    Poll::Ready(Err(error)) => return self.failed(error),
                },
                State::Body(stream) => match stream.poll_data(&mut context) {
                    Poll::Pending => return None,
                    Poll::Ready(Some(Ok(bytes))) => {
                        self.answer.same_body &= body.take(self.answer.body_bytes, &bytes);
                        self.answer.body_bytes += bytes.len() as u64;
                        // This can't fail: no more is released than was received.
                        let _ = stream.flow_control().release_capacity(bytes.len());
                    }
                    Poll::Ready(Some(Err(error))) => return self.failed(error),
                    Poll::Ready(None) => {
                        self.state = None;
                        self.answer.same_body &= body.end(self.answer.body_bytes);
                        return Some(Ok(self.answer));
                    }
                },
            }
        }
    }

    fn failed(&mut self, error: h2::Error) -> Option<Result<Answer, h2::Error>> {
        self.state = None;
        Some(Err(error))
    }
}

const NOTHING: Answer = Answer {
    status: 0,
    body_bytes: 0,
    same_body: true,
    keeps_alive: true,
};
