//! The client alone, for who wants to profile it: `closed_loop 127.0.0.1:8080 64 3`.
#![allow(clippy::print_stdout, reason = "it is what an example is for")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_load::{Address, Checks, Client, RequestPlan, Step, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, connections, seconds] = &arguments[..] else {
        return Err("closed_loop ADDRESS CONNECTIONS SECONDS".into());
    };
    let address = Address::Tcp(address.parse()?);
    let plan = RequestPlan::default();
    let task = Arc::new(Task {
        requests: plan.requests(&address.host(), false)?,
        streams: 1,
        tls: None,
        address,
        expected: Vec::new(),
        checks: Checks::default(),
        head_only: false,
        keep_alive: true,
        timeout: 10_000_000_000,
    });
    let stop = AtomicBool::new(false);
    let mut client = Client::new(task, connections.parse()?)?;
    if let Err(why) = client.connect(&stop)? {
        println!("not all connections could be made: {}", why.name());
    }
    let step = Step {
        open: None,
        offset: 0,
        length: seconds.parse::<u64>()? * 1_000_000_000,
        drain: 1_000_000_000,
    };
    let outcome = client.run(&step, &stop, &mut |_| {})?;
    let totals = &outcome.totals;
    let each = outcome.cpu_with_drain as f64 / totals.completed.max(1) as f64 / 1e3;
    let rate = totals.requests_per_second();
    let little = totals.little(Some(connections.parse()?)).unwrap_or(0.0);
    println!(
        "{rate:.0} requests/s, {each:.2} µs of CPU time each, {} errors, Little {little:.3}",
        totals.errors()
    );
    Ok(())
}
