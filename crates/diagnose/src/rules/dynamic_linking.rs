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
    // What is opened after the loader gave its list back is the program's own wish (`dlopen`).
    let begins = list_given_back_ns(view, root.pid).unwrap_or(u64::MAX);
    let of_start = files
        .iter()
        .take_while(|f| of_loader(&f.name) && f.first_ns <= begins);
    let libraries: Vec<_> = of_start.filter(|f| f.name != LIST).collect();
    let last = libraries.last()?;
    let tried: u64 = view
        .trace
        .failed_lookups
        .iter()
        .filter(|l| l.pid == root.pid && of_loader(&l.path))
        .map(|l| l.calls)
        .sum();
    let bound = bound_ns(view, root.pid, last.first_ns);
    let spent = view.untraced(bound.saturating_sub(begun) as f64);
    if libraries.len() < t::MANY_LIBRARIES || !matters(view, spent) {
        return None;
    }
    let statement = format!(
        "{} shared libraries were loaded before the program began ({} more places searched), {}, {} of the wall time.",
        count(libraries.len() as u64),
        count(tried),
        time(spent),
        percent(view, spent),
    );
    Some(
        Draft::new("dynamic-linking", view, spent, statement)
            .evidence("libraries", libraries.len() as f64, "files")
            .evidence("places searched in vain", tried as f64, "calls")
            .advice("Link what is needed statically or not at all (`-Wl,--as-needed`), give one RUNPATH that holds all of it, or prelink; load seldom used parts by `dlopen`.")
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
    fn what_the_program_opens_itself_is_not() {
        let mut fake = links(100);
        fake.file(super::LIST, 1, 0, 0, 1);
        fake.calls("munmap", None, 1, 0, 1_000).first_ns = MS / 2;
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn ten_are_not() {
        assert!(links(10).ids().is_empty());
    }
}
