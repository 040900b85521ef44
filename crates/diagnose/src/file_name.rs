//! Returns the names of files without their folders.

/// Returns `gzip` for `/usr/bin/gzip`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
