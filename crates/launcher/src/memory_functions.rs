//! Functions that the compiler relies on: it may turn loops and copies into calls of these, and there is no
//! libc to provide them.

#[cfg_attr(program, unsafe(no_mangle))]
unsafe extern "C" fn memset(target: *mut u8, value: i32, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: the caller guarantees `length` bytes; the volatile write keeps the compiler from turning
        // this loop into a call of this function.
        unsafe { core::ptr::write_volatile(target.add(i), value as u8) };
        i += 1;
    }
    target
}

#[cfg_attr(program, unsafe(no_mangle))]
unsafe extern "C" fn memcpy(target: *mut u8, source: *const u8, length: usize) -> *mut u8 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        unsafe {
            core::ptr::write_volatile(target.add(i), core::ptr::read_volatile(source.add(i)));
        };
        i += 1;
    }
    target
}

#[cfg_attr(program, unsafe(no_mangle))]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    let mut i = 0;
    while i < length {
        // SAFETY: as in memset.
        let differ = unsafe {
            core::ptr::read_volatile(left.add(i)) != core::ptr::read_volatile(right.add(i))
        };
        if differ {
            return 1;
        }
        i += 1;
    }
    0
}

#[cfg_attr(program, unsafe(no_mangle))]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller guarantees that a zero byte ends the text.
    while unsafe { core::ptr::read_volatile(text.add(length)) } != 0 {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_do_what_those_of_libc_do() {
        let mut bytes = [1u8; 8];
        // SAFETY: valid for the given length, and the text ends with a zero byte.
        unsafe {
            memset(bytes[2..].as_mut_ptr(), 7, 3);
            assert_eq!(bytes, [1, 1, 7, 7, 7, 1, 1, 1]);
            memcpy(bytes.as_mut_ptr(), c"abcd".as_ptr().cast(), 5);
            assert_eq!(&bytes, b"abcd\0\x01\x01\x01");
            assert_eq!(strlen(bytes.as_ptr()), 4);
            assert_eq!(bcmp(bytes.as_ptr(), b"abcd".as_ptr(), 4), 0);
            assert_ne!(bcmp(bytes.as_ptr(), b"abce".as_ptr(), 4), 0);
        }
    }
}
