//! A thread is made for each small piece of work.

use fathom_model::{Finding, Spent};

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
    let processes = view.trace.processes.len() as u64;
    // Where calls are only looked at for a while, the threads themselves are still all seen.
    let seen = (view.trace.threads.len() as u64).saturating_sub(processes);
    let threads = (made.calls + 1).saturating_sub(processes).max(seen);
    let all: u64 = view.trace.syscalls.iter().map(|row| row.calls).sum();
    // A thread takes 10 to 20 calls: its stack, its masks, its end. Who makes more has other work for the kernel.
    if threads < t::MANY_THREADS || all > threads * t::CALLS_OF_A_THREAD {
        return None;
    }
    let in_kernel = view.in_kernel_ns();
    if !matters(view, in_kernel) || view.share(in_kernel) < t::KERNEL_SHARE / 2.0 {
        return None;
    }
    let cost = in_kernel.max(all_but_the_work(view, made.pid, threads));
    let mut statement = format!(
        "{} threads were made, {} apart; making them, waking them and taking them down costs {} in the kernel",
        count(threads),
        time(view.timed_ns / threads as f64),
        time(in_kernel),
    );
    if cost > (1.0 + t::WORK_WORTH_TELLING) * in_kernel {
        statement += &format!(
            ", and together with the waits for them and the library's part {}",
            time(cost)
        );
    }
    statement += &format!(", {} of the wall time.", percent(view, cost));
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

/// What would not be without the threads: the kernel's part, the waits of one for another, what the library does to make
/// them. What they were made for has to be done in any case, by one thread after the other at worst.
fn all_but_the_work(view: &View<'_>, pid: Option<u32>, threads: u64) -> f64 {
    let with_them = [Spent::Locks, Spent::Ready, Spent::UserCode];
    let with_them: f64 = with_them.iter().map(|spent| view.spent_ns(*spent)).sum();
    let work = view.work_of_threads_ns(pid, threads);
    (view.in_kernel_ns() + with_them).min(view.wall_ns - work)
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

    /// What could be won of a second in which the kernel takes 600 ms, and their own code the rest.
    fn could_win_ms(language: crate::Language) -> f64 {
        let mut fake = Fake::new(1000);
        fake.language = Some(language);
        fake.calls("clone3", None, 20_000, 0, 30_000);
        let timed = [fake.run()];
        let diagnosis = crate::diagnose(&fake.subject(&timed));
        diagnosis.findings[0].could_win_ns as f64 / 1e6
    }

    #[test]
    fn what_they_were_made_for_stays() {
        let c = could_win_ms(crate::Language::C);
        // 20,000 times 6 us around them at most.
        assert!((c - 720.0).abs() < 10.0, "{c}");
        let rust = could_win_ms(crate::Language::Rust);
        assert!((rust - 760.0).abs() < 10.0, "{rust}");
    }
}
