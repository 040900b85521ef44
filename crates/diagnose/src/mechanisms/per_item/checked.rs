//! Detects builds in which each access or call is checked; they are meant for finding errors, not for
//! measuring.

use fathom_model::{FindingId, TimeCategory};
use fathom_trace::FunctionRow;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::file_name::file_name;
use crate::numbers::time;

/// Checks that a compiler or a library adds on request.
struct Checks {
    name: &'static str,
    /// A part of the file name of the library that the checks need.
    library: &'static str,
    /// The prefixes of the names of the checks' functions.
    functions: &'static [&'static str],
    option: &'static str,
    /// The part of own code that remains without the checks. It is based on the slowdown that their authors
    /// state (2x, 5 to 15x, 3x, 1.2x; the library's containers 3x).
    left_without: f64,
}

const ALL: [Checks; 5] = [
    Checks {
        name: "ThreadSanitizer",
        library: "libtsan.so",
        functions: &["__tsan_", "__tsan::"],
        option: "`-fsanitize=thread`",
        left_without: 0.2,
    },
    Checks {
        name: "MemorySanitizer",
        library: "libmsan.so",
        functions: &["__msan_", "__msan::"],
        option: "`-fsanitize=memory`",
        left_without: 0.35,
    },
    Checks {
        name: "AddressSanitizer",
        library: "libasan.so",
        functions: &["__asan_", "__asan::", "__interceptor_"],
        option: "`-fsanitize=address`",
        left_without: 0.5,
    },
    Checks {
        name: "UndefinedBehaviorSanitizer",
        library: "libubsan.so",
        functions: &["__ubsan_", "__ubsan::"],
        option: "`-fsanitize=undefined`",
        left_without: 0.8,
    },
    Checks {
        name: "the debug mode of the C++ library",
        library: "",
        functions: &["__gnu_debug::", "std::__debug::"],
        option: "`-D_GLIBCXX_DEBUG`",
        left_without: 0.35,
    },
];

/// Reports whether a function belongs to these checks. The name of a C++ template function begins with its
/// return type.
fn is_of(checks: &Checks, row: &FunctionRow) -> bool {
    let name = row.function.as_deref().unwrap_or_default();
    let words = || name.split([' ', '<', ',']);
    let begins = |with: &&str| words().any(|word| word.starts_with(*with));
    checks.functions.iter().any(begins)
}

/// Returns the process in which these checks run: the one that loaded their library, or otherwise the one
/// that spends time in their functions.
fn process(analysis: &Analysis<'_>, checks: &Checks) -> Option<u32> {
    let loads = |name: String| {
        let file = file_name(&name).to_owned();
        !checks.library.is_empty() && file.starts_with(checks.library)
    };
    let mut files = analysis.trace.files.iter();
    let loaded = files.find(|file| loads(file.name.to_string()));
    let in_code = || analysis.main_function(|row| is_of(checks, row));
    loaded
        .map(|file| file.pid)
        .or_else(|| in_code().map(|row| row.pid))
}

pub(crate) fn checked(analysis: &Analysis<'_>) -> Option<Claim> {
    let mut all = ALL.iter();
    let (checks, pid) = all.find_map(|checks| Some((checks, process(analysis, checks)?)))?;
    let own = analysis.in_functions(|row| row.pid == pid);
    let own = own.min(analysis.spent_ns(TimeCategory::UserCode));
    let saving = own * (1.0 - checks.left_without);
    let statement = format!(
        "The program was built with {}, which checks its code at run time: {} in those checks; without them the \
         code would take about {} less.",
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
