//! The same file is opened and read again and again.

use fathom_model::{Finding, Place};

use crate::classify;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let of_system = |name: &str| {
        ["/proc/", "/sys/", "/dev/"]
            .iter()
            .any(|p| name.starts_with(p))
    };
    let file = view
        .trace
        .files
        .iter()
        .filter(|f| {
            f.opens >= t::MANY_OPENS_OF_ONE_FILE && f.read_bytes > 0 && f.written_bytes == 0
        })
        .filter(|f| {
            !of_system(&f.name) && !f.name.contains("socket") && !f.name.starts_with("pipe")
        })
        .max_by_key(|f| f.read_bytes + 4096 * f.opens)?;
    let own =
        |name: &dyn Fn(&str) -> bool| view.tally(|row| row.pid == file.pid && name(&row.name));
    let reads = own(&classify::is_read);
    let opens = own(&|name| name == "open" || name == "openat");
    let closes = own(&|name| name == "close");
    let looks = own(&|name| {
        name.ends_with("stat")
            || name == "newfstatat"
            || name == "statx"
            || name == "ioctl"
            || name == "lseek"
    });
    let part = |of: u64, all: u64| (of as f64 / all.max(1) as f64).min(1.0);
    let by_bytes = part(file.read_bytes, reads.bytes).max(part(file.reads, reads.calls));
    let by_opens = part(file.opens, opens.calls);
    let cost =
        reads.cost_ns * by_bytes + (opens.cost_ns + closes.cost_ns + looks.cost_ns) * by_opens;
    let win = cost * (1.0 - 1.0 / file.opens as f64);
    if !matters(view, win) {
        return None;
    }
    let statement = format!(
        "One file was opened {} times and read {:.1} MB from; that cost {}, {} of the wall time, besides the work on what was read.",
        count(file.opens),
        file.read_bytes as f64 / 1e6,
        time(win),
        percent(view, win),
    );
    Some(
        Draft::new("rereading", view, win, statement)
            .evidence("opens", file.opens as f64, "calls")
            .evidence("reads", file.reads as f64, "calls")
            .evidence("bytes read", file.read_bytes as f64, "bytes")
            .advice("Read the file once and keep what is needed of it.")
            .place(Place {
                pid: Some(file.pid),
                tid: None,
                fd: None,
                path: Some(file.name.clone()),
            })
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn a_file_read_for_each_item_is_told() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        fake.file("/etc/table.json", 10_000, 20_000, 160_000_000, 0);
        assert_eq!(fake.ids(), ["rereading"]);
    }

    #[test]
    fn many_files_read_once_are_not() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 10_000, 0, 5_000);
        fake.calls("read", Some(3), 20_000, 8_000, 10_000);
        for i in 0..1000 {
            fake.file(&format!("/src/{i}.c"), 1, 2, 16_000, 0);
        }
        assert!(fake.ids().is_empty());
    }
}
