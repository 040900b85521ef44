//! Detects programs that touch much memory for the first time.

use crate::mechanisms::prelude::*;
use crate::runtimes::Touching;

/// The minimum share of the wall time for a runtime with a garbage collector. A program that creates
/// short-lived objects touches a whole heap before the first collection: a streaming word count spent 21 % of
/// 0.6 s on 275 MiB of it, and a smaller young generation saved a fourth of that. A table of 400 MiB takes 37
/// %.
const FILLED_HEAP_SHARE: f64 = 0.34;

/// The cost of giving the memory back is mentioned if it is at least this fraction of the cost of the faults.
const WORTH_A_WORD: f64 = 0.03;

pub(crate) fn faults(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.fault_cost();
    // If they were measured, the faults are part of the account: they came to 88 % when the account had 79 %.
    let most = match all.measured {
        true => analysis.spent_ns(TimeCategory::PageFaults),
        false => analysis.spent_on(&[
            TimeCategory::PageFaults,
            TimeCategory::KernelMemory,
            TimeCategory::UserCode,
            TimeCategory::Kernel,
        ]),
    };
    let cost = analysis.within_kernel(all.ns).min(most);
    let faults = all.count;
    let many = faults.max(analysis.trace.accounts.minor_faults) >= t::MANY_FAULTS;
    let least = match many {
        true => t::FAULT_SHARE,
        false if all.measured && faults >= t::FAULTS_THAT_RULE => t::FAULTS_RULE,
        false => return None,
    };
    // A page that is first read and later written causes two faults, so the number of faults doesn't measure
    // memory.
    let statement = format!(
        "{} page faults, on first access to memory, cost {}{}.",
        count(all.all),
        if all.measured { "" } else { "about " },
        analysis.time_and_share(cost),
    );
    let (asked, advice) = match asked_for(analysis) {
        Some(Touching { option, advice }) => (
            format!(" `{option}` causes them before the program's work begins."),
            advice.as_str(),
        ),
        None => (
            String::new(),
            analysis.runtime(None).advice(&[Topic::Memory]),
        ),
    };
    let given_back = given_back_ns(analysis, faults);
    let to_give_back = if_so(given_back >= WORTH_A_WORD * cost, || {
        format!(" Giving the memory back took {}.", time(given_back))
    });
    let statement = statement + &to_give_back + &asked;
    let fills_heap = analysis.runtime(None).has(Habit::FillsItsHeap) && asked.is_empty();
    let least = match fills_heap {
        true => least.max(FILLED_HEAP_SHARE),
        false => least,
    };
    let each = match all.measured {
        true => "cost of a fault",
        false => "cost of a fault (modelled)",
    };
    let limits = &analysis.observation.limits;
    Some(
        Claim::new(FindingId::PageFaultHeavy, analysis, cost, statement)
            .beside(analysis, given_back)
            .pieces(vec![Piece::of(TimeCategory::KernelProcesses, given_back)])
            .evidence("minor faults", all.all, "faults")
            .evidence(each, all.each_ns, "ns")
            .advice(advice)
            .takes_here("a first touch", limits.page_fault_seconds)
            .likely()
            .least(Least::share(least)),
    )
}

/// Returns the cost of giving the touched memory back at the end, in ns; 0 if other processes have a part in
/// it, or if the same memory was touched again and again.
fn given_back_ns(analysis: &Analysis<'_>, faults: u64) -> f64 {
    let trace = analysis.trace;
    let runs = analysis.timed.iter();
    let most = runs.map(|run| run.peak_memory_bytes).max().unwrap_or(0);
    let once = faults * t::PAGE_BYTES <= 2 * most;
    match trace.processes.len() == 1 && once {
        true => analysis.taken_down_ns().max(0.0),
        false => 0.0,
    }
}

/// Returns the option of a program of the tree that makes its runtime touch all memory at once.
fn asked_for(analysis: &Analysis<'_>) -> Option<&'static Touching> {
    let processes = analysis.trace.processes.iter();
    let mut asked = processes.filter_map(|process| {
        let exec = process.execs.last()?;
        Runtime::interpreting(&exec.path)?.touches_first(&exec.arguments)
    });
    asked.next()
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn an_option_that_touches_the_heap_is_named() {
        let mut fake = touches(250_000);
        let exec = &mut fake.trace.processes[0].execs[0];
        exec.path = "/usr/bin/java".to_owned();
        exec.arguments = ["java", "-XX:+AlwaysPreTouch", "Main"]
            .map(str::to_owned)
            .to_vec();
        let found = &fake.findings()[0];
        let words = "`-XX:+AlwaysPreTouch` causes them";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert!(found.advice.contains("-Xms"), "{}", found.advice);
    }

    fn touches(pages: u64) -> Fake {
        let mut fake = Fake::new(200);
        fake.trace.threads[0].minor_faults = Some(pages);
        fake
    }

    #[test]
    fn much_memory_touched_once_is_found() {
        assert_eq!(touches(250_000).ids(), ["page-fault-heavy"]);
    }

    #[test]
    fn a_heap_that_is_filled_before_it_is_collected_must_take_more() {
        use crate::Language::{C, Java};
        let saved = |language, milliseconds| {
            let mut fake = Fake::new(milliseconds);
            fake.language = Some(language);
            fake.trace.threads[0].minor_faults = Some(250_000);
            let found = fake.findings();
            found
                .first()
                .map(|found| found.could_win_ns / crate::fake::MS)
        };
        let cost = saved(C, 300).expect("it is reported");
        let (a_quarter, a_half) = (cost * 100 / 28, cost * 2);
        assert!(saved(C, a_quarter).is_some());
        assert_eq!(saved(Java, a_quarter), None);
        assert!(saved(Java, a_half).is_some());
    }

    #[test]
    fn a_start_is_not() {
        assert!(touches(3_000).ids().is_empty());
    }
}
