//! The files behind opened paths.
//!
//! A path doesn't show the kind of its file. A reader of a named pipe waits for a program and not for a disk,
//! and the size of a file shows whether it was read repeatedly. Both are checked after the run: if a file has
//! been removed by then, only its path is known.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;

use crate::descriptor::DescriptorKind;
use crate::result::Trace;

/// Maximum number of different paths that are checked, which takes 20 ms at 2 us each.
const MOST_PATHS: usize = 10_000;

/// Returns whether a path leads to a named pipe.
pub(crate) fn is_fifo(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

/// The kind of file behind a path.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    fifo: bool,
    /// Size of a file in bytes.
    size: Option<u64>,
}

impl Place {
    fn of(path: &str) -> Self {
        let Ok(place) = fs::metadata(path) else {
            return Self::default();
        };
        Self {
            fifo: place.file_type().is_fifo(),
            size: place.is_file().then_some(place.len()),
        }
    }
}

/// Marks files that are named pipes, and adds the sizes of the others.
pub(crate) fn mark(trace: &mut Trace) {
    let mut asked: HashMap<String, Place> = HashMap::new();
    let mut mark = |kind: &mut DescriptorKind| {
        let path = kind.absolute()?;
        let place = match asked.get(path) {
            Some(place) => *place,
            None if asked.len() >= MOST_PATHS => Place::default(),
            None => {
                let place = Place::of(path);
                asked.insert(path.to_owned(), place);
                place
            }
        };
        if place.fifo {
            *kind = DescriptorKind::NamedPipe(path.to_owned());
        }
        place.size
    };
    for file in &mut trace.files {
        file.size_bytes = mark(&mut file.name);
    }
    let names = trace.descriptors.iter_mut().flat_map(|row| &mut row.names);
    let names = names.chain(trace.uses.iter_mut().map(|row| &mut row.name));
    let names = names.chain(&mut trace.objects);
    names.for_each(|name| _ = mark(name));
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;
    use crate::result::{DescriptorRow, FileRow};

    #[test]
    fn named_pipes_are_called_that_and_files_are_not() {
        let fifo = std::env::temp_dir().join(format!("fathom-fifo-{}", std::process::id()));
        let fifo = fifo.to_str().expect("a path of text").to_owned();
        let path = CString::new(fifo.as_str()).expect("no zero in it");
        // SAFETY: the path is a string that ends with a zero and lives until the call returns.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        let row = |name: &str| FileRow {
            name: name.into(),
            ..FileRow::default()
        };
        let mut trace = Trace {
            files: vec![row(&fifo), row("/proc/self/status"), row("pipe")],
            descriptors: vec![DescriptorRow {
                pid: 1,
                fd: 3,
                names: vec!["/nowhere".into(), fifo.as_str().into()],
                more_names: 0,
            }],
            objects: vec![fifo.as_str().into()],
            ..Trace::default()
        };
        let own = std::env::current_exe().expect("it runs");
        trace.files.push(row(own.to_str().expect("a path of text")));
        mark(&mut trace);
        let own = trace.files.pop().expect("just pushed");
        assert!(own.size_bytes.is_some_and(|size| size > 10_000), "{own:?}");
        assert_eq!(trace.files[0].size_bytes, None, "a pipe has none");
        fs::remove_file(&fifo).expect("it was just made");
        let names: Vec<_> = trace.files.iter().map(|file| file.name.text()).collect();
        let marked = format!("named pipe {fifo}");
        assert_eq!(names, [marked.as_str(), "/proc/self/status", "pipe"]);
        assert_eq!(trace.descriptors[0].names, ["/nowhere", marked.as_str()]);
        assert_eq!(trace.objects, [marked.as_str()]);
    }
}
