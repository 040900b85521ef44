//! A thread is made for each small piece of work.

use fathom_model::Finding;

use crate::Language;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

/// Calls that make a thread or a process.
fn makes(name: &str) -> bool {
    ["clone", "clone3"].contains(&name)
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let made = view.tally_calls(makes);
    let children = view.trace.processes.iter().skip(1).count() as u64;
    let threads = made.calls.saturating_sub(children);
    let all: u64 = view.trace.syscalls.iter().map(|row| row.calls).sum();
    // A thread takes 10 to 20 calls: its stack, its masks, its end. Who makes more has other work for the kernel.
    if threads < t::MANY_THREADS || all > threads * t::CALLS_OF_A_THREAD {
        return None;
    }
    let cost = view.in_kernel_ns();
    if !matters(view, cost) || view.share(cost) < t::KERNEL_SHARE / 2.0 {
        return None;
    }
    let statement = format!(
        "{} threads were made, {} apart; making them, waking them and taking them down costs {} in the kernel, {} of the wall time.",
        count(threads),
        time(view.timed_ns / threads as f64),
        time(cost),
        percent(view, cost),
    );
    let advice = match view.language(made.pid) {
        Some(Language::Java) => {
            "Give the work to an executor (`Executors.newFixedThreadPool`), or to virtual threads (Java 21)."
        }
        Some(Language::Python) => {
            "Give the work to a `ThreadPoolExecutor`, some hundred pieces at a time."
        }
        Some(Language::Rust) => {
            "Keep a few threads and hand them the work through a channel, or use `rayon`."
        }
        _ => {
            "Keep a few threads, as many as there are CPUs, and hand them the work in larger pieces."
        }
    };
    Some(
        Draft::new("thread-spawning", view, cost, statement)
            .evidence("threads made", threads as f64, "threads")
            .advice(advice)
            .pid(made.pid)
            .likely()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    fn told(threads: u64, others: u64) -> bool {
        let mut fake = Fake::new(1000);
        fake.calls("clone3", None, threads, 0, 15_000);
        fake.calls("mprotect", None, threads * 2, 0, 2_500);
        fake.calls("getppid", None, others, 0, 100);
        fake.ids().contains(&"thread-spawning".to_owned())
    }

    #[test]
    fn a_thread_for_each_item_is_told() {
        assert!(told(20_000, 0));
    }

    #[test]
    fn a_pool_and_a_program_with_other_calls_are_not() {
        assert!(!told(16, 0));
        assert!(!told(20_000, 2_000_000));
    }
}
