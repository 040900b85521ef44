//! Evicts a program's files from memory, and reports which ones stayed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fathom_model::{ColdEvidence, EvictedFile};

use crate::MeasureError;
use crate::page_cache::{evict, page_size, resident_pages};

/// The maximum number of program names stored for one file.
const MOST_HOLDERS: usize = 20;
/// The file with which root drops the caches of the whole machine.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// The page cache, directory entries and inodes.
const EVERYTHING: &str = "3\n";

/// Makes the next run of a program a cold one.
pub trait Chill {
    /// Evicts the program's files from memory, as far as possible.
    ///
    /// # Errors
    /// If the method is refused altogether; single files that stay are not an error.
    fn chill(&mut self, program: usize) -> Result<(), MeasureError>;
}

/// A program's files, and how they were found.
#[derive(Debug, Clone, Default)]
pub struct ColdFiles {
    /// `kernel`, `stops`, or `none` if it has only the program and its interpreter.
    pub found_by: String,
    /// The files.
    pub files: Vec<PathBuf>,
}

/// Evicts files one by one, or drops the caches of the whole machine.
#[derive(Debug)]
pub struct Evictor {
    programs: Vec<ColdFiles>,
    /// Drop all caches instead of evicting single files.
    drops_caches: bool,
    /// What remained of each program's files after its first eviction.
    evidence: Vec<Option<Vec<EvictedFile>>>,
}

impl Evictor {
    /// Creates an evictor for these programs. `drops_caches` needs root.
    pub fn new(programs: Vec<ColdFiles>, drops_caches: bool) -> Evictor {
        Evictor {
            evidence: programs.iter().map(|_| None).collect(),
            programs,
            drops_caches,
        }
    }

    /// Reports whether this user may drop caches.
    pub fn may_drop_caches() -> bool {
        fs::OpenOptions::new().write(true).open(DROP_CACHES).is_ok()
    }

    /// Returns the evidence for each program: its files, and which of them stayed. Finds the processes that
    /// map the files that stayed, which takes some milliseconds.
    pub fn evidence(self) -> Vec<ColdEvidence> {
        let mut all: Vec<ColdEvidence> = Vec::new();
        for (program, (cold, files)) in self.programs.into_iter().zip(self.evidence).enumerate() {
            let Some(files) = files else { continue };
            all.push(ColdEvidence {
                program,
                found_by: cold.found_by,
                bytes: cold
                    .files
                    .iter()
                    .filter_map(|path| Some(fs::metadata(path).ok()?.len()))
                    .sum(),
                files,
            });
        }
        name_holders(&mut all);
        all
    }
}

impl Chill for Evictor {
    fn chill(&mut self, program: usize) -> Result<(), MeasureError> {
        let files = &self.programs[program].files;
        let refused: Vec<Option<String>> = if self.drops_caches {
            drop_caches()?;
            vec![None; files.len()]
        } else {
            files
                .iter()
                .map(|path| evict(path).err().map(|error| error.to_string()))
                .collect()
        };
        if self.evidence[program].is_none() {
            let evicted = files.iter().zip(refused);
            let evicted = evicted.map(|(path, why)| what_stayed(path, why));
            self.evidence[program] = Some(evicted.collect());
        }
        Ok(())
    }
}

fn drop_caches() -> Result<(), MeasureError> {
    // SAFETY: takes no arguments. Dirty pages can't be dropped, so they are written first.
    unsafe { libc::sync() };
    fs::write(DROP_CACHES, EVERYTHING).map_err(|error| MeasureError::Output {
        path: DROP_CACHES.into(),
        error,
    })
}

fn what_stayed(path: &Path, refused: Option<String>) -> EvictedFile {
    let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
    EvictedFile {
        path: path.to_string_lossy().into_owned(),
        pages: length.div_ceil(page_size() as u64),
        pages_left: resident_pages(path),
        refused,
        mapped_by: Vec::new(),
    }
}

/// Adds the names of running programs that map files that stayed; only processes that this user can see are
/// considered.
fn name_holders(evidence: &mut [ColdEvidence]) {
    let mut files: Vec<&mut EvictedFile> = evidence
        .iter_mut()
        .flat_map(|one| &mut one.files)
        .filter(|file| file.pages_left != Some(0))
        .collect();
    for (name, mapped) in mapped_files() {
        for file in &mut files {
            let known = file.mapped_by.contains(&name) || file.mapped_by.len() >= MOST_HOLDERS;
            if !known && mapped.contains(&file.path) {
                file.mapped_by.push(name.clone());
            }
        }
    }
}

/// Returns each running process with the files it maps.
fn mapped_files() -> Vec<(String, BTreeSet<String>)> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .filter_map(|entry| {
            let maps = fs::read_to_string(entry.path().join("maps")).ok()?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            Some((name.trim().to_string(), paths_of(&maps)))
        })
        .collect()
}

/// Returns the paths in `/proc/PID/maps`: the part of each line that begins with a slash.
fn paths_of(maps: &str) -> BTreeSet<String> {
    maps.lines()
        .filter_map(|line| Some(line[line.find('/')?..].to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    /// Returns a folder on a real disk: `/tmp` may be in memory only.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn an_evicted_file_is_out_of_memory_even_if_it_was_just_written() {
        let folder = folder();
        let path = folder.path().join("file");
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        drop(file);
        assert_eq!(resident_pages(&path), Some((1 << 20) / page_size() as u64));
        let mut evictor = Evictor::new(
            vec![ColdFiles {
                found_by: "none".to_string(),
                files: vec![path.clone(), folder.path().join("gone")],
            }],
            false,
        );
        evictor.chill(0).unwrap();
        let evidence = evictor.evidence();
        let files = &evidence[0].files;
        assert_eq!(files[0].pages_left, Some(0), "{files:?}");
        assert!(files[0].refused.is_none());
        assert!(files[1].refused.is_some());
    }

    #[test]
    fn paths_are_read_from_maps_with_blanks_in_them() {
        let maps =
            "7f00-7f01 r--p 00000000 fe:00 12 /usr/lib/lib c.so.6\n7f02-7f03 rw-p 0 0 0 [heap]\n";
        let paths: Vec<String> = paths_of(maps).into_iter().collect();
        assert_eq!(paths, ["/usr/lib/lib c.so.6"]);
    }

    #[test]
    fn who_maps_our_own_program_includes_us() {
        let own = fs::read_link("/proc/self/exe").unwrap();
        let own = own.to_string_lossy();
        assert!(
            mapped_files()
                .iter()
                .any(|(_, files)| files.contains(&*own))
        );
    }

    #[test]
    fn changed_maps_give_paths_of_their_own_text() {
        let maps = "7f00-7f01 r--p 0 fe:00 12 /lib/libc.so.6\n7f02-7f03 rw-p 0 0:0 0 [heap]\n";
        for text in crate::mutated::mutated_text(&maps.repeat(3)) {
            let paths = paths_of(&text);
            assert!(paths.iter().all(|path| path.starts_with('/')));
            assert!(paths.iter().map(String::len).sum::<usize>() <= text.len());
        }
    }
}
