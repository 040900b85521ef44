//! The client alone, for profiling: `client 127.0.0.1:8080 64 3` is a closed loop of 64 connections for 3 s.
//! A rate after that makes it an open loop, and any word after the rate turns off spinning.
#![allow(clippy::print_stdout, reason = "it is what an example is for")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fathom_load::{Address, Arrivals, Checks, Client, Open, RequestPlan, Step, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, seconds, rate @ ..] = &arguments[..] else {
        return Err("client ADDRESS CONNECTIONS SECONDS [RATE [asleep]]".into());
    };
    let spins = rate.len() < 2;
    let rate = rate.first().map(|rate| rate.parse::<f64>()).transpose()?;
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
    fathom_load::clock::be_punctual();
    let stop = AtomicBool::new(false);
    let mut client = Client::new(task, connections.parse()?)?;
    client.spins = spins;
    if let Err(why) = client.connect(&stop)? {
        println!("some connections could not be opened: {}", why.name());
    }
    let step = Step {
        open: rate.map(|rate| Open::at(rate, Arrivals::Constant)),
        length: seconds.parse::<u64>()? * 1_000_000_000,
        drain: 1_000_000_000,
    };
    let outcome = client.run(&step, &stop, &mut |_| {})?;
    let totals = &outcome.totals;
    let each = outcome.cpu_with_drain as f64 / totals.completed.max(1) as f64 / 1e3;
    let per_second = totals.requests_per_second();
    let of_all = rate.is_none().then(|| connections.parse()).transpose()?;
    let little = totals.little(of_all).unwrap_or(0.0);
    let lag = |share| totals.lag.percentile(share).unwrap_or(0) as f64 / 1e3;
    println!(
        "{per_second:.0} requests/s, {each:.2} µs of CPU time each, {} errors, Little {little:.3}, lag p50 \
         {:.1} µs, p99 {:.1} µs",
        totals.errors(),
        lag(0.5),
        lag(0.99)
    );
    Ok(())
}
