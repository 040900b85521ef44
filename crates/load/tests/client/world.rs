//! What all of them need.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_load::{Address, Arrivals, Checks, Client, Outcome, RequestPlan, Step, Task};

pub(crate) const MS: u64 = 1_000_000;

/// Serves each connection on a thread of its own.
pub(crate) fn serve(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

/// What is asked of a server, with a long time-out.
pub(crate) fn task(address: Address, plan: &RequestPlan) -> Task {
    Task {
        requests: plan.requests(&address.host(), false).unwrap(),
        address,
        tls: None,
        streams: 1,
        expected: Vec::new(),
        checks: Checks::default(),
        head_only: plan.head_only(),
        keep_alive: plan.keep_alive,
        timeout: 60_000 * MS,
    }
}

pub(crate) fn closed(length: u64) -> Step {
    Step {
        open: None,
        offset: 0,
        length,
        drain: 60_000 * MS,
    }
}

pub(crate) fn open(rate: f64, length: u64) -> Step {
    Step {
        open: Some((rate, Arrivals::Constant)),
        ..closed(length)
    }
}

/// One step on connections that were made before.
pub(crate) fn run(task: Task, connections: usize, step: &Step) -> Outcome {
    let stop = AtomicBool::new(false);
    let mut client = Client::new(Arc::new(task), connections).unwrap();
    // Who can't be connected to is asked again in the step.
    let _ = client.connect(&stop).unwrap();
    let outcome = client.run(step, &stop, &mut |_| {}).unwrap();
    let totals = &outcome.totals;
    assert_eq!(totals.scheduled, totals.completed + totals.dropped);
    outcome
}
