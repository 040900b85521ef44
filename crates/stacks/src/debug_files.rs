//! Finds the debug information that was stripped from a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use typed_arena::Arena;

use crate::files;
use crate::image::Bytes;

/// The folder in which distributions install debug information.
const INSTALLED: &str = "/usr/lib/debug";

/// The maximum size of an embedded symbol table after unpacking, in bytes. Firefox's table has a tenth of
/// this.
const LARGEST_EMBEDDED: usize = 24 << 20;

/// The memory limit for unpacking a symbol table, in KiB. `xz` uses nine megabytes by default.
const UNPACKING_KIB: u32 = 24 << 10;

/// The maximum number of bytes of a file's debug information that are decompressed: the C library has nine
/// million. If there are more, functions are named without lines.
pub(crate) const MOST_DECOMPRESSED: u64 = 40 << 20;

/// Opened files, kept as long as they are borrowed.
pub(crate) type Opened = Arena<Bytes>;

/// Opens the separate debug file, if it is installed. It is found by the build ID, or next to the file, under
/// the name that the file contains.
pub(crate) fn split_off<'d>(
    parsed: &object::File<'d>,
    path: &Path,
    opened: &'d Opened,
) -> Option<object::File<'d>> {
    let id = parsed.build_id().ok().flatten().filter(|id| id.len() > 1);
    let by_id = || {
        let debug = open(&by_build_id(id?), opened)?;
        (debug.build_id().ok().flatten() == id).then_some(debug)
    };
    let by_name = || {
        let (name, sum) = parsed.gnu_debuglink().ok().flatten()?;
        let name = Path::new(OsStr::from_bytes(name)).file_name()?;
        let folder = path.parent()?;
        let beneath = Path::new(INSTALLED).join(folder.strip_prefix("/").ok()?);
        let folders = [folder.to_owned(), folder.join(".debug"), beneath];
        folders.iter().find_map(|folder| {
            let bytes = read(&folder.join(name), opened)?;
            let same = match id {
                Some(_) => object::File::parse(bytes).ok()?.build_id().ok().flatten() == id,
                None => crc32(bytes) == sum,
            };
            same.then(|| object::File::parse(bytes).ok())?
        })
    };
    by_id().or_else(by_name)
}

/// Opens the file into which `dwz` moved what several debug files of a package have in common.
pub(crate) fn common<'d>(debug: &object::File<'d>, opened: &'d Opened) -> Option<object::File<'d>> {
    let (name, id) = debug.gnu_debugaltlink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name));
    let by_name = name.is_absolute().then(|| open(name, opened)).flatten();
    let common = by_name.or_else(|| open(&by_build_id(id), opened))?;
    (common.build_id().ok().flatten() == Some(id)).then_some(common)
}

/// Returns the compressed symbol table embedded in the file itself, as in Fedora.
pub(crate) fn embedded<'d>(
    parsed: &object::File<'d>,
    opened: &'d Opened,
) -> Option<object::File<'d>> {
    let packed = parsed.section_by_name(".gnu_debugdata")?.data().ok()?;
    let mut unpacked = Vec::new();
    let mut reader = lzma_rust2::XzReader::new_mem_limit(packed, true, UNPACKING_KIB);
    let most = LARGEST_EMBEDDED as u64 + 1;
    std::io::Read::read_to_end(&mut std::io::Read::take(&mut reader, most), &mut unpacked).ok()?;
    let bytes = opened.alloc(Bytes::Copied(unpacked));
    (bytes.len() <= LARGEST_EMBEDDED).then(|| object::File::parse(&**bytes).ok())?
}

/// Opens a file of debug information by its path.
pub(crate) fn open<'d>(path: &Path, opened: &'d Opened) -> Option<object::File<'d>> {
    object::File::parse(read(path, opened)?).ok()
}

fn read<'d>(path: &Path, opened: &'d Opened) -> Option<&'d [u8]> {
    let bytes = Bytes::of(&files::open(path)?)?;
    Some(&**opened.alloc(bytes))
}

/// Returns where the debug information of a build is installed.
pub(crate) fn by_build_id(id: &[u8]) -> PathBuf {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|it| format!("{it:02x}")).collect() };
    let (first, rest) = id.split_at(id.len().min(1));
    Path::new(INSTALLED).join(format!(".build-id/{}/{}.debug", hex(first), hex(rest)))
}

/// Computes zlib's checksum, which identifies a debug file without a build ID.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}
