//! A page in a file of the user's own that leads to the address of `ui`. The arguments of a program are
//! seen by everybody on the machine: a browser is given the name of this file, not the token.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file. Dropped, it is away.
#[derive(Debug)]
pub struct Redirect {
    path: PathBuf,
    /// Made for it, where the user has no folder that is private.
    folder: Option<PathBuf>,
}

impl Redirect {
    /// Writes the page into the user's folder of this session (`XDG_RUNTIME_DIR`), else into a new folder
    /// that only the user can enter.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn to(address: &str) -> io::Result<Redirect> {
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        match session.filter(|folder| is_private(folder)) {
            Some(folder) => Redirect::in_folder(&folder, None, address),
            None => {
                let name = format!("fathom-ui-{:016x}", rand::random::<u64>());
                let folder = std::env::temp_dir().join(name);
                DirBuilder::new().mode(0o700).create(&folder)?;
                Redirect::in_folder(&folder, Some(folder.clone()), address)
            }
        }
    }

    fn in_folder(folder: &Path, own: Option<PathBuf>, address: &str) -> io::Result<Redirect> {
        let name = format!("fathom-ui-{:016x}.html", rand::random::<u64>());
        let redirect = Redirect {
            path: folder.join(name),
            folder: own,
        };
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&redirect.path)?;
        // The address has digits and letters only.
        file.write_all(
            format!(
                "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
                 <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>Fathom</title>\n\
                 <p><a href=\"{address}\">Fathom</a></p>\n"
            )
            .as_bytes(),
        )?;
        Ok(redirect)
    }

    /// What is given to a browser.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        // Somebody else removed it first.
        let _ = std::fs::remove_file(&self.path);
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A folder of this user that nobody else can enter.
fn is_private(folder: &Path) -> bool {
    // SAFETY: takes nothing, can't fail.
    let own = unsafe { libc::geteuid() };
    folder.is_absolute()
        && folder
            .metadata()
            .is_ok_and(|about| about.is_dir() && about.uid() == own && about.mode() & 0o077 == 0)
}
