//! Traces a command and prints a readable account, or JSON.
//!
//! `cargo run -p fathom-trace --example trace --release -- [--tier kernel|perf|sample|ptrace] [--json]
//! [--detect] [--call-stacks MICROSECONDS, 0 for none] [--timeline] [--quiet] [--timeout SECONDS] -- COMMAND ARGS...`
//!
//! The account goes to stderr, so that the command's own output stays usable.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use fathom_trace::detect::detect;
use fathom_trace::{StackPool, Tier, TimelineOptions, Trace, TraceCommand, TraceOptions, trace};

struct Arguments {
    tier: Tier,
    json: bool,
    quiet: bool,
    detect: bool,
    options: TraceOptions,
    command: TraceCommand,
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        tier: Tier::Kernel,
        json: false,
        quiet: false,
        detect: false,
        // The same options as `fathom why`.
        options: TraceOptions {
            profile: Some(Duration::from_millis(4)),
            call_stacks: Some(Duration::from_micros(100)),
            stacks: Some(StackPool::default()),
            ..TraceOptions::default()
        },
        command: TraceCommand::default(),
    };
    let mut timeout = None;
    let mut words = std::env::args_os().skip(1).peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        match text.as_str() {
            "--tier" => {
                parsed.tier = match words.next().as_deref().and_then(|t| t.to_str()) {
                    Some("kernel") => Tier::Kernel,
                    Some("perf") => Tier::Perf,
                    Some("sample") => Tier::Sample,
                    Some("ptrace" | "stops") => Tier::Ptrace,
                    _ => return Err("--tier takes kernel, perf, sample or ptrace".to_owned()),
                }
            }
            "--json" => parsed.json = true,
            "--detect" => parsed.detect = true,
            "--quiet" => parsed.quiet = true,
            "--call-stacks" => {
                let us = words.next().and_then(|s| s.to_str()?.parse().ok());
                let us: u64 = us.ok_or("--call-stacks takes microseconds")?;
                parsed.options.call_stacks = (us > 0).then(|| Duration::from_micros(us));
            }
            "--timeline" => parsed.options.timeline = Some(TimelineOptions::default()),
            "--timeout" => {
                let seconds = words.next().and_then(|s| s.to_str()?.parse().ok());
                timeout = Some(seconds.ok_or("--timeout takes seconds")?);
            }
            "--" => break,
            _ => {
                return Err(format!(
                    "unknown option {text}; see the top of this example"
                ));
            }
        }
    }
    parsed.command = TraceCommand::new(words);
    parsed.command.timeout = timeout.map(Duration::from_secs_f64);
    Ok(parsed)
}

fn main() -> ExitCode {
    let args = match arguments() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if args.detect {
        for tier in detect() {
            eprintln!("{tier:?}");
        }
        return ExitCode::SUCCESS;
    }
    let mut trace = match trace(&args.command, args.tier, &args.options) {
        Ok(trace) => trace,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    trace.stacks = args.options.stacks.and_then(|pool| pool.named(&trace));
    let text = match args.json {
        true => serde_json::to_string_pretty(&trace).unwrap_or_default(),
        false => account(&trace),
    };
    if !args.quiet {
        // Don't fail if the reader of stderr has gone away.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    ExitCode::SUCCESS
}

fn ms(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

fn account(t: &Trace) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!(
        "tier {:?}, {} ms, CPU user {} kernel {} ms, faults {} minor {} major, end {:?}",
        t.tier,
        ms(t.duration_ns),
        ms(t.accounts.user_ns),
        ms(t.accounts.system_ns),
        t.accounts.minor_faults,
        t.accounts.major_faults,
        t.end,
    ));
    line(format!("lost {:?}", t.lost));
    if let Some(s) = &t.sampling {
        line(format!("sampling {s:?}"));
    }
    for what in &t.not_visible {
        line(format!("not visible: {what}"));
    }
    line("\nprocesses (ms)".to_owned());
    for p in t.processes.iter().take(30) {
        line(format!(
            "  {} from {:?}: {} to {}, first output {}, {:?}",
            p.pid,
            p.parent,
            ms(p.started_ns),
            p.ended_ns.map_or("?".to_owned(), ms),
            p.first_output_ns.map_or("none".to_owned(), ms),
            p.end.and_then(|e| e.code.or(e.signal.map(|s| -s))),
        ));
        for e in &p.execs {
            line(format!(
                "      {} {} {:?}",
                ms(e.at_ns),
                e.path,
                e.arguments
            ));
        }
    }
    line("\nthreads (ms on CPU)".to_owned());
    for th in t.threads.iter().take(30) {
        line(format!(
            "  {}/{} {}: {} to {}, on CPU {}, faults {:?}/{:?}, switches {:?}/{:?}",
            th.pid,
            th.tid,
            th.name,
            ms(th.started_ns),
            th.ended_ns.map_or("?".to_owned(), ms),
            th.on_cpu_ns.map_or("?".to_owned(), ms),
            th.minor_faults,
            th.major_faults,
            th.voluntary_switches,
            th.involuntary_switches,
        ));
    }
    line("\ncalls: all threads together (ms)".to_owned());
    line(format!(
        "  {:<18}{:>4}{:>10}{:>9}{:>13}{:>11}{:>11}{:>11}  sizes",
        "call", "fd", "calls", "errors", "bytes", "total", "blocked", "ready"
    ));
    let mut table: BTreeMap<(String, Option<i32>), fathom_trace::SyscallRow> = BTreeMap::new();
    for row in &t.syscalls {
        let sum = table.entry((row.name.clone(), row.fd)).or_default();
        sum.calls += row.calls + row.unfinished;
        sum.errors += row.errors;
        sum.bytes += row.bytes;
        sum.total_ns += row.total_ns;
        sum.blocked_ns = Some(sum.blocked_ns.unwrap_or(0) + row.blocked_ns.unwrap_or(0));
        sum.ready_ns = Some(sum.ready_ns.unwrap_or(0) + row.ready_ns.unwrap_or(0));
        for (s, r) in sum.sizes.iter_mut().zip(row.sizes) {
            *s += r;
        }
    }
    let mut rows: Vec<_> = table.into_iter().collect();
    rows.sort_by_key(|(_, r)| std::cmp::Reverse(r.total_ns));
    for ((name, fd), r) in rows.iter().take(40) {
        line(format!(
            "  {:<18}{:>4}{:>10}{:>9}{:>13}{:>11}{:>11}{:>11}  {:?}",
            name,
            fd.map_or(String::new(), |f| f.to_string()),
            r.calls,
            r.errors,
            r.bytes,
            ms(r.total_ns),
            ms(r.blocked_ns.unwrap_or(0)),
            ms(r.ready_ns.unwrap_or(0)),
            r.sizes,
        ));
    }
    line("\noff the CPU (ms)".to_owned());
    for o in t.off_cpu.iter().take(30) {
        line(format!(
            "  {}/{} {:?} in {} {:?}: {} x, {} (longest {})",
            o.pid,
            o.tid,
            o.cause,
            o.call.as_deref().unwrap_or("no call"),
            o.fd,
            o.count,
            ms(o.total_ns),
            o.longest_ns.map_or("?".to_owned(), ms),
        ));
    }
    line("\ndescriptors".to_owned());
    for d in t.descriptors.iter().take(40) {
        line(format!(
            "  {} fd {}: {:?} +{}",
            d.pid, d.fd, d.names, d.more_names
        ));
    }
    line(format!("\nfiles ({})", t.files.len()));
    for f in t.files.iter().take(25) {
        line(format!(
            "  {} {}: {} opens, {} reads {} B, {} writes {} B",
            f.pid, f.name, f.opens, f.reads, f.read_bytes, f.writes, f.written_bytes
        ));
    }
    line(format!("\nfailed lookups ({})", t.failed_lookups.len()));
    for l in t.failed_lookups.iter().take(15) {
        line(format!(
            "  {} {} {} x {} errno {}",
            l.pid, l.call, l.calls, l.path, l.errno
        ));
    }
    if let Some(timeline) = &t.timeline {
        line(format!("\ntimeline: {} intervals", timeline.len()));
        for i in timeline.iter().take(20) {
            line(format!(
                "  {} {}..{} woken {:?} by {:?}: {:?} in {:?} {:?}",
                i.tid,
                ms(i.from_ns),
                ms(i.to_ns),
                i.woken_ns.map(ms),
                i.woken_by,
                i.cause,
                i.call,
                i.fd
            ));
        }
    }
    out
}
