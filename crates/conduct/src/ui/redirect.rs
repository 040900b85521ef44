//! A page in a private file of the user that redirects to the address of `ui`. Other users on the machine can
//! see a program's arguments, so a browser gets the name of this file instead of the token.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file, which is removed on drop.
#[derive(Debug)]
pub struct Redirect {
    path: PathBuf,
    /// A folder created for the file, if the user has no private folder.
    folder: Option<PathBuf>,
}

impl Redirect {
    /// Writes the page into the user's session folder (`XDG_RUNTIME_DIR`), or else into a new folder that
    /// only the user can access.
    ///
    /// # Errors
    /// Errors of the file system.
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
        // The address contains only letters and digits, so nothing needs escaping.
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

    /// Returns the path to pass to a browser.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        // Another process may have removed it already.
        let _ = std::fs::remove_file(&self.path);
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Reports whether this user owns the folder and no other user can enter it.
fn is_private(folder: &Path) -> bool {
    // SAFETY: the call takes no arguments and can't fail.
    let own = unsafe { libc::geteuid() };
    folder.is_absolute()
        && folder
            .metadata()
            .is_ok_and(|about| about.is_dir() && about.uid() == own && about.mode() & 0o077 == 0)
}
