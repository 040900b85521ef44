//! What the library does, as `FATHOM_PRELOAD` says.

use core::sync::atomic::{AtomicU8, Ordering};

unsafe extern "C" {
    fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
}

/// What the library does.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mode {
    /// It joins small reads and writes.
    Joins = 1,
    /// It answers repeated lookups of files.
    Lookups,
    /// It keeps memory that the program gives back.
    Memory,
    /// It asks for huge pages.
    HugePages,
    /// It lets sockets send small messages at once.
    NoDelay,
    /// It makes pipes larger.
    Pipes,
}

/// The modes, by the first character of their name.
const BY_NAME: [(u8, Mode); 5] = [
    (b'l', Mode::Lookups),
    (b'm', Mode::Memory),
    (b'h', Mode::HugePages),
    (b'n', Mode::NoDelay),
    (b'p', Mode::Pipes),
];

/// The mode; 0 if it isn't known yet.
static MODE: AtomicU8 = AtomicU8::new(0);

/// Reports whether this is what the library does.
pub(super) fn is(mode: Mode) -> bool {
    let known = match MODE.load(Ordering::Relaxed) {
        0 => {
            let found = find() as u8;
            MODE.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    };
    known == mode as u8
}

fn find() -> Mode {
    // SAFETY: strings that end with zero.
    let first = unsafe {
        let value = getenv(c"FATHOM_PRELOAD".as_ptr());
        match value.is_null() {
            true => 0,
            false => *value as u8,
        }
    };
    let mut known = BY_NAME.iter();
    known
        .find(|(name, _)| *name == first)
        .map_or(Mode::Joins, |(_, mode)| *mode)
}
