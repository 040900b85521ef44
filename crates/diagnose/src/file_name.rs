//! Names of files without their folders.

/// `gzip` of `/usr/bin/gzip`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
