//! The file system that contains a path.

use std::path::Path;

/// One mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Kind, such as `ext4`.
    pub file_system: String,
    /// Device or name of the source, such as `/dev/vda`.
    pub device: String,
}

/// Returns the mount that contains `path` (`/proc/self/mountinfo`).
pub(crate) fn of(path: &Path) -> Option<Mount> {
    let path = path.canonicalize().ok()?;
    parse(
        &std::fs::read_to_string("/proc/self/mountinfo").ok()?,
        &path,
    )
}

/// Returns the mount with the longest mount point above `path`; on ties, the last.
pub(crate) fn parse(mountinfo: &str, path: &Path) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in mountinfo.lines() {
        let Some((before, after)) = line.split_once(" - ") else {
            continue;
        };
        let Some(point) = before.split(' ').nth(4) else {
            continue;
        };
        let mut words = after.split(' ');
        let (Some(file_system), Some(device)) = (words.next(), words.next()) else {
            continue;
        };
        let deeper = best
            .as_ref()
            .is_none_or(|(length, _)| point.len() >= *length);
        // Spaces in mount points are written as \040.
        if path.starts_with(point.replace("\\040", " ")) && deeper {
            let (file_system, device) = (file_system.to_owned(), device.to_owned());
            best = Some((
                point.len(),
                Mount {
                    file_system,
                    device,
                },
            ));
        }
    }
    best.map(|(_, mount)| mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_point_counts() {
        let text = "22 1 8:1 / / rw shared:1 - ext4 /dev/vda rw\n\
                    30 22 0:5 / /tmp rw - tmpfs tmpfs rw\n\
                    31 22 0:6 / /tmpfoo rw - xfs /dev/b rw\n";
        let kind = |path: &str| parse(text, Path::new(path)).unwrap().file_system;
        assert_eq!(kind("/home/x"), "ext4");
        assert_eq!(kind("/tmp/a/b"), "tmpfs");
        assert_eq!(kind("/tmpfoo"), "xfs");
        assert_eq!(parse("", Path::new("/")), None);
    }
}
