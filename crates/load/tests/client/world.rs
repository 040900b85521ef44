//! Helpers shared by all tests.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_load::{Address, Arrivals, Checks, Client, Open, Outcome, RequestPlan, Step, Task};

pub(crate) const MS: u64 = 1_000_000;

/// Serves each connection on a separate thread.
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

/// Serves each connection with a separate tokio task.
pub(crate) fn serve_async<F>(
    answer: impl Fn(tokio::net::TcpStream) -> F + Send + 'static,
) -> Address
where
    F: Future<Output = ()> + Send + 'static,
{
    let (tell, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream));
            }
        });
    });
    Address::Tcp(address.recv().unwrap())
}

/// Returns the requests for a server, with a long timeout.
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
        length,
        drain: 60_000 * MS,
    }
}

pub(crate) fn open(rate: f64, length: u64) -> Step {
    Step {
        open: Some(Open::at(rate, Arrivals::Constant)),
        ..closed(length)
    }
}

/// Returns the ratio by Little's law of a closed loop on `places` slots: their busy time, plus the time they
/// were idle because the client had no CPU. It is 1, except for the idle time at the end of the step.
pub(crate) fn busy_and_idle(outcome: &Outcome, places: u64) -> f64 {
    let totals = &outcome.totals;
    let lag = &totals.lag;
    let idle = lag.mean() * lag.count() as f64;
    totals.little(Some(places)).unwrap() + idle / (places as f64 * totals.length as f64)
}

/// Runs one step on connections that were made before.
pub(crate) fn run(task: Task, connections: usize, step: &Step) -> Outcome {
    let stop = AtomicBool::new(false);
    let mut client = Client::new(Arc::new(task), connections).unwrap();
    // Failed connections are retried in the step.
    let _ = client.connect(&stop).unwrap();
    let outcome = client.run(step, &stop, &mut |_| {}).unwrap();
    let totals = &outcome.totals;
    assert_eq!(totals.scheduled, totals.completed + totals.dropped);
    outcome
}
