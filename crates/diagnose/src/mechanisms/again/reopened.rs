//! Finds files that one process opens repeatedly, and the cost of opening them.

use crate::mechanisms::prelude::*;

/// Extrapolates the use of a file, if only the first calls were traced.
pub(super) fn whole(analysis: &Analysis<'_>, file: &FileRow) -> FileRow {
    let own = |name: &dyn Fn(&str) -> bool| {
        let stretch = analysis.stretch(|row| row.pid == file.pid && name(&row.name));
        move |count: u64| (count as f64 * stretch).round() as u64
    };
    let (opens, reads) = (own(&calls::opens_file), own(&calls::is_read));
    FileRow {
        opens: opens(file.opens),
        reads: reads(file.reads),
        read_bytes: reads(file.read_bytes),
        ..file.clone()
    }
}

/// Returns whether a call opens a file, puts its descriptor in place of another, checks it before it is read,
/// or closes it.
fn is_around_reads(name: &str) -> bool {
    calls::opens_file(name) || calls::redirects(name) || calls::is_around_read(name)
}

pub(super) fn of_process(pid: u32, is: fn(&str) -> bool) -> impl Fn(&SyscallRow) -> bool + Copy {
    move |row| row.pid == pid && is(&row.name)
}

/// Files that one process opens repeatedly.
pub(crate) struct ReopenedFile {
    /// The totals over all of these files, under the name of the largest.
    pub together: FileRow,
    /// The paths of all these files.
    pub paths: Vec<String>,
    /// The number of files.
    pub different: u64,
    /// The part of the process's opens that are for these files, 0 to 1.
    pub part_of_opens: f64,
}

impl ReopenedFile {
    /// Returns the files of the process whose matching files (`is`) have the largest sum of `size`.
    pub(crate) fn most(
        analysis: &Analysis<'_>,
        is: impl Fn(&FileRow) -> bool,
        size: impl Fn(&FileRow) -> u64,
    ) -> Option<Self> {
        let files = analysis.trace.files.iter();
        let files = files.filter(|file| file.opens >= t::MANY_OPENS_OF_ONE_FILE && is(file));
        let by_process = grouped(files.map(|file| (file.pid, file))).into_values();
        let files = by_process.max_by_key(|files| files.iter().map(|it| size(it)).sum::<u64>())?;
        let largest = files.iter().max_by_key(|file| size(file))?;
        let sum = |of: fn(&FileRow) -> u64| files.iter().map(|file| of(file)).sum();
        let traced = FileRow {
            opens: sum(|file| file.opens),
            reads: sum(|file| file.reads),
            read_bytes: sum(|file| file.read_bytes),
            ..(*largest).clone()
        };
        let together = whole(analysis, &traced);
        let all = analysis.tally(of_process(together.pid, calls::opens_file));
        Some(Self {
            part_of_opens: part_of(together.opens, all.calls),
            paths: files.iter().map(|file| file.name.to_string()).collect(),
            different: files.len() as u64,
            together,
        })
    }

    /// Matches the process's calls of that kind.
    pub(crate) fn own(&self, is: fn(&str) -> bool) -> impl Fn(&SyscallRow) -> bool + Copy + use<> {
        of_process(self.together.pid, is)
    }

    /// Returns the cost of opening, inspecting and closing these files, computed as their part of everything
    /// that the process opens.
    pub(crate) fn cost_of_opening(&self, analysis: &Analysis<'_>) -> CallCost {
        CallCost::without_misses(analysis, self.own(is_around_reads)).part(self.part_of_opens)
    }

    /// Returns the part of the opens that were repetitions, 0 to 1.
    pub(crate) fn again(&self) -> f64 {
        let opens = self.together.opens.max(self.different).max(1);
        1.0 - self.different as f64 / opens as f64
    }

    /// Formats the beginning of a sentence: the name of the single file, or the number of files with their
    /// `kind`.
    pub(crate) fn subject(&self, kind: &str, name: &str) -> String {
        match self.different {
            1 => format!("`{name}` was"),
            n => format!("{} {kind} such as `{name}` were", count(n)),
        }
    }

    /// Adds their location to a claim.
    pub(crate) fn claimed(&self, claim: Claim) -> Claim {
        let path = self.together.name.to_string();
        claim.pid(self.together.pid).on(None, path)
    }
}
