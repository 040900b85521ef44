//! Much memory is touched for the first time.

use fathom_model::{FindingId, TimeCategory};

use crate::analysis::Analysis;
use crate::claim::{Claim, Least};
use crate::numbers::count;
use crate::runtimes::{Runtime, Topic};
use crate::thresholds as t;

pub(crate) fn faults(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = analysis.fault_cost();
    // Timed ones are a part of the account: 88 % were found where it had 79.
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
    // A page that is read first and written later faults twice: faults are no measure of memory.
    let statement = format!(
        "{} page faults, at first touches of memory, cost {}{}.",
        count(faults),
        if all.measured { "" } else { "about " },
        analysis.time_and_share(cost),
    );
    let (asked, advice) = match asked_for(analysis) {
        Some((option, advice)) => (
            format!(" `{option}` asks for them before the program's work begins."),
            advice.into(),
        ),
        None => (String::new(), analysis.runtime(None).advice(Topic::Memory)),
    };
    let statement = statement + &asked;
    let each = match all.measured {
        true => "cost of a fault",
        false => "cost of a fault (modelled)",
    };
    let limits = &analysis.observation.limits;
    Some(
        Claim::new(FindingId::PageFaultHeavy, analysis, cost, statement)
            .evidence("minor faults", faults as f64, "faults")
            .evidence(each, all.each_ns, "ns")
            .advice(advice)
            .takes_here("a first touch", limits.page_fault_seconds)
            .likely()
            .least(Least::share(least)),
    )
}

/// An option of a program of the tree by which its runtime touches all memory at once, and what to do.
fn asked_for(analysis: &Analysis<'_>) -> Option<(&'static str, &'static str)> {
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
        let words = "`-XX:+AlwaysPreTouch` asks for them";
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
    fn a_start_is_not() {
        assert!(touches(3_000).ids().is_empty());
    }
}
