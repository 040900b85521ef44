//! What the compiler takes for granted, where there is no libc to have it.

/// The precompiled core library refers to it; with `panic=abort` it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

// The compiler may turn loops and copies into calls of these, and there is no libc to have them.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(target: *mut u8, value: i32, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: the caller says that `length` bytes are there; volatile keeps this from becoming a
        // call of itself.
        unsafe { core::ptr::write_volatile(target.add(i), value as u8) };
        i += 1;
    }
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(target: *mut u8, source: *const u8, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        unsafe { core::ptr::write_volatile(target.add(i), core::ptr::read_volatile(source.add(i))) };
        i += 1;
    }
    target
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        let differ = unsafe { core::ptr::read_volatile(left.add(i)) != core::ptr::read_volatile(right.add(i)) };
        if differ {
            return 1;
        }
        i += 1;
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller says that a zero byte ends the text.
    while unsafe { core::ptr::read_volatile(text.add(length)) } != 0 {
        length += 1;
    }
    length
}
