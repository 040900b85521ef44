//! Detects builds in which each access or call is checked; they are meant for finding errors, not for
//! measuring.

use crate::mechanisms::prelude::*;
use crate::runtimes::{Checks, all_checks};

/// Returns the process in which these checks run: the one that loaded their library, or otherwise the one
/// that spends time in their functions.
fn process(analysis: &Analysis<'_>, checks: &Checks) -> Option<u32> {
    let library = checks.library.as_deref();
    let loads = |file: &&FileRow| {
        let name = file.name.to_string();
        library.is_some_and(|library| file_name(&name).starts_with(library))
    };
    let loaded = analysis.trace.files.iter().find(loads);
    let in_code = || analysis.main_function(|row| checks.have(row));
    let pid = loaded.map(|file| file.pid);
    pid.or_else(|| in_code().map(|row| row.pid))
}

pub(crate) fn checked(analysis: &Analysis<'_>) -> Option<Claim> {
    let mut all = all_checks();
    let (checks, pid) = all.find_map(|checks| Some((checks, process(analysis, checks)?)))?;
    let own = analysis.in_functions(|row| row.pid == pid);
    let own = own.min(analysis.spent_ns(TimeCategory::UserCode));
    let saving = own * (1.0 - checks.left_without);
    let statement = format!(
        "The program was built with {}, which checks its code at run time: its own code took {}, and would take \
         about {} less without the checks.",
        checks.name,
        analysis.time_and_share(own),
        time(saving),
    );
    Some(
        Claim::new(FindingId::UnoptimisedBuild, analysis, saving, statement)
            .weighing(own)
            .evidence("time in checked code", own, "ns")
            .advice(format!(
                "Build it without {} before you judge its speed.",
                checks.option
            ))
            .pid(pid)
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, ROOT, hold_words};

    #[test]
    fn a_build_with_a_sanitizer_is_named_by_its_library() {
        let mut fake = Fake::new(1000);
        fake.in_function(ROOT, "/bin/program", "sum", 950);
        assert!(fake.ids().is_empty());
        fake.file("/usr/lib/x86_64-linux-gnu/libasan.so.8", 1, 1, 832, 0);
        let found = fake.findings();
        assert_eq!(found[0].id, FindingId::UnoptimisedBuild);
        hold_words("checked", &found[0]);
        let statement = &found[0].statement;
        assert!(statement.contains("AddressSanitizer"), "{statement}");
        assert!(found[0].advice.contains("-fsanitize=address"));
    }

    #[test]
    fn a_sanitizer_that_is_linked_in_is_named_by_its_functions() {
        let mut fake = Fake::new(1000);
        fake.in_function(ROOT, "/bin/program", "__tsan::MemoryAccess", 400);
        fake.in_function(ROOT, "/bin/program", "sum", 600);
        let found = fake.findings();
        assert!(found[0].statement.contains("ThreadSanitizer"));
        let mut fake = Fake::new(1000);
        let name = "bool __gnu_debug::operator!=<int*>(It const&, It const&)";
        fake.in_function(ROOT, "/bin/program", name, 900);
        assert!(fake.findings()[0].advice.contains("_GLIBCXX_DEBUG"));
    }
}
