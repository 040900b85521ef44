//! Names a descriptor whose number was reused for several objects.

use fathom_trace::UseRow;

use crate::thresholds as t;

/// Returns whether nearly all calls went to the first object.
pub(crate) fn is_nearly_all(first: &UseRow, others: &[&UseRow]) -> bool {
    let others: u64 = others.iter().map(|one| one.moved.calls()).sum();
    let first = first.moved.calls();
    first as f64 >= t::PART_OF_ONE_FILE * (first + others) as f64
}

/// Describes the uses, which are sorted by frequency: the only one, the one with nearly all calls, or their
/// number and an example. Returns `None` if there are none.
pub(crate) fn name_of_all(used: &[&UseRow]) -> Option<String> {
    let (first, others) = used.split_first()?;
    if is_nearly_all(first, others) {
        return Some(first.name.to_string());
    }
    let all: u64 = used.iter().map(|one| one.moved.calls()).sum();
    if first.moved.calls() * 2 > all {
        let others = match others.len() {
            1 => "1 other".to_owned(),
            others => format!("{others} others"),
        };
        return Some(format!("{} and {others}", first.name));
    }
    let place = match common_folder(used) {
        Some(folder) => format!(" under {folder}"),
        None => String::new(),
    };
    Some(format!("{} files{place}, e.g. {}", used.len(), first.name))
}

/// Returns the deepest folder that contains all of these files, unless it is the root.
fn common_folder(files: &[&UseRow]) -> Option<String> {
    let first = files[0].name.text();
    let mut common: Vec<&str> = first.split('/').collect();
    for file in files {
        let name = file.name.text();
        let (folder, _) = name.rsplit_once('/')?;
        let same = folder.split('/').zip(&common).take_while(|(a, b)| a == *b);
        let same = same.count();
        common.truncate(same);
    }
    (common.len() > 1).then(|| common.join("/"))
}
