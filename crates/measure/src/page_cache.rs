//! The page cache: evicts files, checks what is cached, and gives files new pages.
//!
//! Two copies of a file with the same bytes aren't equally fast to read. A written file has different pages
//! than one that was read in (`wc -l` of 31 MB: a difference of 4 %), and of two files read in the same way,
//! one has the better cache placement (`gzip` of 1.4 MB: 1.4 %). This lasts as long as the pages do, so no
//! number of runs shows it. [`Renewal`] assigns new pages before each round, which turns the difference into
//! ordinary noise.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

/// The maximum number of files to search in folders: 100,000 take half a second.
const MOST_FILES: usize = 100_000;
/// Up to this size in bytes, a file is read completely even if a command needs only a part of it.
const SMALL: u64 = 64 << 20;

/// The files that commands read, among those below some folders.
#[derive(Debug, Clone, Default)]
pub struct Renewal {
    files: Vec<PathBuf>,
}

impl Renewal {
    /// Evicts the files below these folders from memory, except git's own. The next run of the commands
    /// brings back the files that it reads; see [`Renewal::keep_what_was_read`].
    ///
    /// Files that remain in memory are excluded: their file system is in memory, or a process is running
    /// them.
    pub fn begin(folders: &[PathBuf]) -> Renewal {
        let mut files = Vec::new();
        for folder in folders {
            // Dirty pages can't be evicted. One call writes those of all files, because a call for each file
            // takes milliseconds.
            if let Ok(open) = File::open(folder) {
                // SAFETY: an open descriptor.
                unsafe { libc::syncfs(open.as_raw_fd()) };
            }
            list(folder, &mut files);
        }
        files.sort();
        files.dedup();
        files.retain(|path| take_out(path).is_ok());
        files.retain(|path| resident_pages(path) == Some(0));
        Renewal { files }
    }

    /// Restricts the renewal to files that were read. Must be called after a run of each command.
    pub fn keep_what_was_read(&mut self) {
        self.files.retain(|path| {
            let size = fs::metadata(path).map_or(0, |about| about.len());
            let resident = resident_pages(path).unwrap_or(0);
            // Large files that were only partly read are skipped: reading all of them could take minutes.
            resident > 0 && (size <= SMALL || 2 * resident >= size.div_ceil(page_size() as u64))
        });
    }

    /// Reports whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Evicts all files and reads them in again in a random order, so that chance decides which file gets
    /// which pages. A file that can't be read is missing for the command as well.
    pub fn renew(&mut self, random: &mut SmallRng) {
        for path in &self.files {
            let _ = take_out(path);
        }
        self.files.shuffle(random);
        let mut buffer = vec![0; 1 << 18];
        for path in &self.files {
            if let Ok(mut file) = File::open(path) {
                while file.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
            }
        }
    }
}

/// Adds the regular files below a folder, or the file itself.
fn list(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(about) = fs::symlink_metadata(path) else {
        return;
    };
    if about.is_file() && about.len() > 0 {
        files.push(path.to_path_buf());
    } else if about.is_dir() && path.file_name().is_none_or(|name| name != ".git") {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if files.len() >= MOST_FILES {
                return;
            }
            list(&entry.path(), files);
        }
    }
}

/// Evicts a file. Dirty pages can't be evicted, so they are written first. Both only need read permission.
pub(crate) fn evict(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // SAFETY: an open descriptor.
    if unsafe { libc::fdatasync(file.as_raw_fd()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    drop_pages(&file)
}

/// Evicts the clean pages only.
fn take_out(path: &Path) -> io::Result<()> {
    drop_pages(&File::open(path)?)
}

fn drop_pages(file: &File) -> io::Result<()> {
    // SAFETY: an open descriptor and numbers; the whole file.
    let refused = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    match refused {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// Returns the number of a file's pages in memory; `None` if the kernel doesn't report it. For files of other
/// users, `mincore` reports every page as present (since Linux 5.2), so it is called only for files that we
/// own or may write.
pub(crate) fn resident_pages(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    // SAFETY: takes no arguments and returns a number.
    let user = unsafe { libc::geteuid() };
    let ours = user == 0 || metadata.uid() == user;
    if !ours && fs::OpenOptions::new().append(true).open(path).is_err() {
        return None;
    }
    let length = usize::try_from(metadata.len()).ok()?;
    if length == 0 {
        return Some(0);
    }
    let mut pages = vec![0u8; length.div_ceil(page_size())];
    // SAFETY: a mapping of the whole file that is only queried, never accessed, and then unmapped; the vector
    // has a byte for each page.
    unsafe {
        let at = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if at == libc::MAP_FAILED {
            return None;
        }
        let refused = libc::mincore(at, length, pages.as_mut_ptr());
        libc::munmap(at, length);
        if refused != 0 {
            return None;
        }
    }
    Some(pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

pub(crate) fn page_size() -> usize {
    // SAFETY: takes a constant and returns a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn what_a_command_read_is_renewed_and_the_rest_is_left_alone() {
        // On a real disk: `/tmp` may be in memory only.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        fs::create_dir(in_folder(".git")).unwrap();
        fs::create_dir(in_folder("deep")).unwrap();
        for name in ["read", "deep/read", "deep/left", ".git/index"] {
            fs::write(in_folder(name), vec![7; 1 << 20]).unwrap();
        }
        let mut renewal = Renewal::begin(&[folder.path().to_path_buf()]);
        assert_eq!(resident_pages(&in_folder("deep/left")), Some(0));
        assert_ne!(resident_pages(&in_folder(".git/index")), Some(0));
        for name in ["read", "deep/read"] {
            fs::read(in_folder(name)).unwrap();
        }
        renewal.keep_what_was_read();
        let mut files = renewal.files.clone();
        files.sort();
        assert_eq!(files, [in_folder("deep/read"), in_folder("read")]);
        renewal.renew(&mut SmallRng::seed_from_u64(1));
        let pages = (1 << 20) / page_size() as u64;
        assert_eq!(resident_pages(&in_folder("read")), Some(pages));
        assert_eq!(resident_pages(&in_folder("deep/left")), Some(0));
    }
}
