//! Finds the package with the symbols of a binary.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use object::Object;

use crate::image::Bytes;
use crate::{debug_files, files};

/// The folder in which dpkg stores the file lists of installed packages.
const LISTS: &str = "/var/lib/dpkg/info";

/// Returns the Debian or Ubuntu package with the symbols of a binary. `None` if the binary doesn't come from
/// a package, or if the symbols are installed.
pub fn package_of_symbols(binary: &str) -> Option<String> {
    let bytes = Bytes::of(&files::open(Path::new(binary))?)?;
    let parsed = object::File::parse(&*bytes).ok()?;
    let id = parsed.build_id().ok().flatten()?;
    if debug_files::by_build_id(id).exists() || parsed.symbol_table().is_some() {
        return None;
    }
    package_with(Path::new(LISTS), binary).map(|package| symbols_of(&package))
}

/// Returns the name of the package with the symbols of `package`. For the C library it is a special name, for
/// other packages their name with the suffix of their archive.
fn symbols_of(package: &str) -> String {
    match package {
        "libc6" => "libc6-dbg".to_owned(),
        package => format!("{package}-dbgsym"),
    }
}

/// Returns the name, without architecture, of the package whose file list contains a path.
fn package_with(lists: &Path, binary: &str) -> Option<String> {
    // If `/lib` is a link to `/usr/lib`, packages may list either.
    let other = match binary.strip_prefix("/usr") {
        Some(short) => short.to_owned(),
        None => format!("/usr{binary}"),
    };
    let mut lists: Vec<_> = fs::read_dir(lists).ok()?.flatten().collect();
    lists.sort_by_key(fs::DirEntry::file_name);
    lists.into_iter().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let package = name.strip_suffix(".list")?;
        let mut lines = BufReader::new(files::open(&entry.path())?);
        let mut line = String::new();
        loop {
            line.clear();
            if lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if [binary, &other].contains(&line.trim_end_matches('\n')) {
                break;
            }
        }
        package.split(':').next().map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_package_that_lists_it() {
        let lists = tempfile::tempdir().expect("a folder");
        let list = |name: &str, text: &str| {
            fs::write(lists.path().join(name), text).expect("written");
        };
        list("gzip.list", "/.\n/bin\n/bin/gzip\n");
        list("libc6:amd64.list", "/usr/lib/x86_64-linux-gnu/libc.so.6\n");
        list("gzip.md5sums", "/bin/other\n");
        let of = |binary| package_with(lists.path(), binary);
        assert_eq!(of("/usr/bin/gzip").as_deref(), Some("gzip"));
        assert_eq!(of("/bin/gzip").as_deref(), Some("gzip"));
        let libc = of("/lib/x86_64-linux-gnu/libc.so.6").expect("listed");
        assert_eq!(symbols_of(&libc), "libc6-dbg");
        assert_eq!(symbols_of("gzip"), "gzip-dbgsym");
        assert_eq!(of("/bin/other"), None);
        assert_eq!(of("/bin/gz"), None);
    }
}
