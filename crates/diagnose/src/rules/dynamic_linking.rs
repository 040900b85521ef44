//! Finding and binding shared libraries takes a good part of the time.

use fathom_model::Finding;

use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

/// Where glibc's loader looks up its libraries.
const LIST: &str = "/etc/ld.so.cache";

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let root = view.trace.processes.first()?;
    let begun = root.execs.last().map_or(root.started_ns, |exec| exec.at_ns);
    let mut files: Vec<_> = view
        .trace
        .files
        .iter()
        .filter(|f| f.pid == root.pid && f.opens > 0 && f.first_ns >= begun)
        .collect();
    files.sort_by_key(|f| f.first_ns);
    let of_loader = |name: &str| name.ends_with(".so") || name.contains(".so.");
    let libraries: Vec<_> = files
        .iter()
        .take_while(|f| of_loader(&f.name))
        .filter(|f| f.name != LIST)
        .collect();
    let last = libraries.last()?;
    // What is opened after the loader gave its list back is the program's own wish.
    let begins = list_given_back_ns(view, root.pid).unwrap_or(u64::MAX);
    let linked = libraries.partition_point(|f| f.first_ns <= begins);
    let by_program = linked < t::MANY_LIBRARIES;
    let (many, from, to) = match by_program {
        true => (libraries.len() - linked, begins, last.first_ns),
        false => {
            let last = libraries[linked - 1].first_ns;
            (linked, begun, bound_ns(view, root.pid, last))
        }
    };
    let spent = view.untraced(to.saturating_sub(from) as f64);
    if many < t::MANY_LIBRARIES || !matters(view, spent) {
        return None;
    }
    let tried: u64 = view
        .trace
        .failed_lookups
        .iter()
        .filter(|l| l.pid == root.pid && of_loader(&l.path))
        .map(|l| l.calls)
        .sum();
    let statement = format!(
        "{} shared libraries were {} ({} more places searched), {}, {} of the wall time.",
        count(many as u64),
        match by_program {
            true => "opened by the program itself (`dlopen`)",
            false => "loaded before the program began",
        },
        count(tried),
        time(spent),
        percent(view, spent),
    );
    let advice = match by_program {
        true => {
            "Open a library when something of it is needed, with RTLD_LAZY; link what is always needed into the program."
        }
        false => {
            "Link what is needed statically or not at all (`-Wl,--as-needed`), give one RUNPATH that holds all of it, or prelink; load seldom used parts by `dlopen`."
        }
    };
    Some(
        Draft::new("dynamic-linking", view, spent, statement)
            .evidence("libraries", many as f64, "files")
            .evidence("places searched in vain", tried as f64, "calls")
            .advice(advice)
            .pid(Some(root.pid))
            .likely()
            .finish(),
    )
}

/// When the loader was done with a program whose last library it opened at `opened`: its symbols are bound
/// only after that. The loader of glibc then gives back the list of libraries that it had mapped, which is its
/// last call and mostly its first of this kind.
fn bound_ns(view: &View<'_>, pid: u32, opened: u64) -> u64 {
    list_given_back_ns(view, pid).unwrap_or(0).max(opened)
}

fn list_given_back_ns(view: &View<'_>, pid: u32) -> Option<u64> {
    let has_list = view
        .trace
        .files
        .iter()
        .any(|f| f.pid == pid && f.name == LIST);
    let rows = view.trace.syscalls.iter();
    let given_back = rows
        .filter(|row| (row.pid, row.tid) == (pid, pid) && row.name == "munmap")
        .map(|row| row.first_ns)
        .min();
    given_back.filter(|_| has_list)
}

#[cfg(test)]
mod tests {
    use crate::fake::{Fake, MS};

    fn links(libraries: u64) -> Fake {
        let mut fake = Fake::new(20);
        for i in 0..libraries {
            fake.file(
                &format!("/lib/part{i}.so.1"),
                1,
                1,
                832,
                1 + i * 10 * MS / libraries,
            );
        }
        fake
    }

    #[test]
    fn a_hundred_libraries_are_told() {
        assert_eq!(links(100).ids(), ["dynamic-linking"]);
    }

    #[test]
    fn binding_the_symbols_belongs_to_it() {
        let mut fake = links(100);
        fake.file(super::LIST, 1, 0, 0, 1);
        fake.calls("munmap", None, 1, 0, 1_000).first_ns = 16 * MS;
        let told = fake.findings();
        assert_eq!((told[0].share * 100.0).round(), 80.0);
    }

    #[test]
    fn what_the_program_opens_itself_is_told_as_that() {
        let mut fake = links(100);
        fake.file(super::LIST, 1, 0, 0, 1);
        fake.calls("munmap", None, 1, 0, 1_000).first_ns = MS / 2;
        let told = fake.findings();
        assert_eq!(told.len(), 1);
        let begin = "95 shared libraries were opened by the program itself (`dlopen`)";
        assert!(
            told[0].statement.starts_with(begin),
            "{}",
            told[0].statement
        );
        assert!(!told[0].advice.contains("by `dlopen`"));
    }

    #[test]
    fn ten_are_not() {
        assert!(links(10).ids().is_empty());
    }
}
