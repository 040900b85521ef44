//! Selects the store. Pure, except that it inspects folders.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::postgresql::address;

/// A file in a `.fathom/` that `run` created for its builds and inputs. It says that the folder doesn't mark
/// a project.
pub const WORK_ONLY: &str = "work-only";

/// File name of the store, in a project's folder and in the user's folder.
const FILE: &str = "store.sqlite";

/// Location of a store, which may not exist yet. Its `Display` and `Debug` never show a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database, `postgres://...`.
    Server(String),
}

impl Location {
    /// Parses an address or a path given by the user.
    ///
    /// # Errors
    /// [`Error::Address`] if it is an address of anything else.
    pub fn parse(text: &str) -> Result<Location, Error> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Location::Server(text.to_owned())),
            Some((scheme, _)) if !scheme.contains('/') => Err(Error::Address {
                address: address::redacted(text),
                why: format!("{scheme:?} is not a kind of store"),
            }),
            _ => Ok(Location::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => write!(f, "{}", path.display()),
            Location::Server(text) => f.write_str(&address::redacted(text)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Selects the store: from `--store`, then `FATHOM_STORE`, then the project's store, then the user's own.
/// `project` is the result of [`project`]; `variable` reads the environment.
///
/// # Errors
/// [`Error::Address`], [`Error::NoPlace`].
pub fn which(
    asked: Option<&str>,
    project: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Location, Error> {
    if let Some(asked) = asked {
        return Location::parse(asked);
    }
    if let Some(named) = variable("FATHOM_STORE").filter(|named| !named.is_empty()) {
        return Location::parse(&named);
    }
    if let Some(folder) = project {
        return Ok(Location::File(folder.join(FILE)));
    }
    // By the XDG rules, a relative XDG_DATA_HOME is ignored.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let folder = data.ok_or(Error::NoPlace)?.join("fathom");
    Ok(Location::File(folder.join(FILE)))
}

/// Properties of one of the folders from the current one upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folder {
    /// Whether the folder and its `.fathom/`, if there is one, belong to this user.
    pub own: bool,
    /// Whether the folder has a `.git`.
    pub git_root: bool,
    /// Whether the folder has a `.fathom/`.
    pub project: bool,
}

/// Returns the nearest `.fathom/`, from `here` upwards. Stops at the root of the repository and at another
/// user's folder: another user's store in /tmp must not be mistaken for the project's.
pub fn project(here: &Path, look: impl Fn(&Path) -> Option<Folder>) -> Option<PathBuf> {
    for folder in here.ancestors() {
        match look(folder)? {
            Folder { own: false, .. } => return None,
            Folder { project: true, .. } => return Some(folder.join(".fathom")),
            Folder { git_root: true, .. } => return None,
            _ => {}
        }
    }
    None
}

/// Inspects a folder for [`project`]; doesn't follow links.
pub fn look(folder: &Path) -> Option<Folder> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: geteuid returns a number of this process and can't fail.
    let user = unsafe { libc::geteuid() };
    let store = folder.join(".fathom").symlink_metadata().ok();
    let mut own = folder.metadata().ok()?.uid() == user;
    if let Some(store) = &store {
        own &= store.uid() == user;
    }
    let git_root = folder.join(".git").symlink_metadata().is_ok();
    Some(Folder {
        own,
        git_root,
        project: store.is_some_and(|store| store.is_dir())
            && !folder.join(".fathom").join(WORK_ONLY).exists(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Location {
        Location::File(PathBuf::from(path))
    }

    #[test]
    fn the_nearest_word_wins() {
        let home = |name: &str| (name == "HOME").then(|| "/home/a".to_owned());
        let all = |name: &str| match name {
            "FATHOM_STORE" => Some("named.sqlite".to_owned()),
            "XDG_DATA_HOME" => Some("/data".to_owned()),
            _ => home(name),
        };
        let data = |name: &str| all(name).filter(|_| name != "FATHOM_STORE");
        let relative =
            |name: &str| home(name).or(Some("data".to_owned()).filter(|_| name == "XDG_DATA_HOME"));
        let folder = Some(Path::new("/p/.fathom"));
        assert_eq!(
            which(Some("a.sqlite"), folder, all).unwrap(),
            file("a.sqlite")
        );
        assert_eq!(which(None, folder, all).unwrap(), file("named.sqlite"));
        assert_eq!(
            which(None, folder, data).unwrap(),
            file("/p/.fathom/store.sqlite")
        );
        assert_eq!(
            which(None, None, data).unwrap(),
            file("/data/fathom/store.sqlite")
        );
        assert_eq!(
            which(None, None, relative).unwrap(),
            file("/home/a/.local/share/fathom/store.sqlite")
        );
        assert!(matches!(which(None, None, |_| None), Err(Error::NoPlace)));
    }

    #[test]
    fn the_search_ends_at_the_repository_and_at_folders_of_others() {
        let plain = Folder {
            own: true,
            git_root: false,
            project: false,
        };
        let found = |special: &'static str, folder: Folder| {
            project(Path::new("/home/a/p/q"), move |path| {
                Some(if path == Path::new(special) {
                    folder
                } else {
                    plain
                })
            })
        };
        let store = Folder {
            project: true,
            ..plain
        };
        assert_eq!(
            found("/home/a/p/q", store),
            Some("/home/a/p/q/.fathom".into())
        );
        assert_eq!(found("/home/a", store), Some("/home/a/.fathom".into()));
        assert_eq!(
            found(
                "/home/a/p",
                Folder {
                    git_root: true,
                    ..store
                }
            ),
            Some("/home/a/p/.fathom".into())
        );
        assert_eq!(
            found(
                "/home/a/p",
                Folder {
                    own: false,
                    ..store
                }
            ),
            None
        );
        let root_below = |path: &Path| {
            Some(if path == Path::new("/home/a") {
                store
            } else {
                Folder {
                    git_root: true,
                    ..plain
                }
            })
        };
        assert_eq!(project(Path::new("/home/a/p"), root_below), None);
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let text = "postgres://joe:s3cret@db.example:5433/perf?password=s3cret&sslmode=require";
        let location = Location::parse(text).unwrap();
        for shown in [location.to_string(), format!("{location:?}")] {
            assert!(
                shown.contains("joe") && shown.contains("db.example:5433/perf"),
                "{shown}"
            );
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        let wrong = Location::parse("mysql://joe:s3cret@db/perf")
            .unwrap_err()
            .to_string();
        assert!(
            wrong.contains("mysql") && !wrong.contains("s3cret"),
            "{wrong}"
        );
        assert_eq!(
            Location::parse("./a/b.sqlite").unwrap(),
            file("./a/b.sqlite")
        );
    }
}
