//! Replacements for functions of the C library that first write all held data, and access to the real
//! functions.
//!
//! Each replacement is a few instructions that preserve the arguments, whatever they are, and jump to the
//! real function.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::hold::before;

unsafe extern "C" {
    fn dlsym(handle: usize, name: *const core::ffi::c_char) -> usize;
}

/// The next object after this one.
const RTLD_NEXT: usize = usize::MAX;

const fn text(name: &str) -> &core::ffi::CStr {
    match core::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

macro_rules! forwarded {
    (named: $($named:ident)*; forwarded: $($name:ident)*) => {
        /// A function of the C library.
        #[expect(non_camel_case_types, reason = "they are called so")]
        #[derive(Clone, Copy)]
        pub(super) enum Name {
            $($named,)* $($name),*
        }

        const NAMES: &[&core::ffi::CStr] = &[
            $(text(concat!(stringify!($named), "\0")),)*
            $(text(concat!(stringify!($name), "\0"))),*
        ];

        $(
            /// # Safety
            /// Same as the C library's function.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                naked_asm!(
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    "mov edi, {name}",
                    "call {before}",
                    "mov r11, rax",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    "jmp r11",
                    name = const Name::$name as usize,
                    before = sym before,
                );
                #[cfg(target_arch = "aarch64")]
                naked_asm!(
                    "stp x29, x30, [sp, -96]!",
                    "stp x0, x1, [sp, 16]", "stp x2, x3, [sp, 32]", "stp x4, x5, [sp, 48]",
                    "stp x6, x7, [sp, 64]", "str x8, [sp, 80]",
                    "mov x0, {name}",
                    "bl {before}",
                    "mov x16, x0",
                    "ldp x0, x1, [sp, 16]", "ldp x2, x3, [sp, 32]", "ldp x4, x5, [sp, 48]",
                    "ldp x6, x7, [sp, 64]", "ldr x8, [sp, 80]",
                    "ldp x29, x30, [sp], 96",
                    "br x16",
                    name = const Name::$name as usize,
                    before = sym before,
                );
            }
        )*
    };
}

// Those from `recv` on wait, create a file or change what a path means.
forwarded! {
    named: fflush fileno_unlocked setvbuf read fclose socket setsockopt pipe pipe2
    stat stat64 lstat lstat64 fstatat fstatat64 statx access faccessat eaccess euidaccess readlink
    open open64 openat openat64;
    forwarded: pread pread64 readv preadv
    _exit _Exit quick_exit abort
    pwrite pwrite64 pwritev lseek lseek64 ftruncate ftruncate64 fsync fdatasync
    close dup dup2 dup3 fseek fseeko ftell rewind
    unlink fstat
    recv recvfrom recvmsg send sendto sendmsg sendfile sendfile64
    splice copy_file_range
    poll ppoll select pselect epoll_wait epoll_pwait pause sigsuspend sigwait
    nanosleep clock_nanosleep usleep sleep
    wait waitpid waitid wait3 wait4 kill
    fork vfork posix_spawn posix_spawnp system popen pclose
    execve execv execvp execvpe execl execlp execle fexecve
    rename renameat renameat2 link linkat symlink symlinkat mkdir mkdirat
    mknod mknodat mkfifo mkfifoat creat creat64 fopen fopen64 freopen freopen64 shm_open bind
    chdir fchdir chroot
    truncate truncate64 chmod fchmod fchmodat chown lchown fchown fchownat utimensat futimens
}

static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

impl Name {
    /// Returns the address of a function.
    pub(super) fn real(name: usize) -> usize {
        let (Some(place), Some(text)) = (REAL.get(name), NAMES.get(name)) else {
            crate::system::exit(98);
        };
        match place.load(Ordering::Relaxed) {
            0 => {
                // SAFETY: a string that ends with zero.
                let found = unsafe { dlsym(RTLD_NEXT, text.as_ptr()) };
                if found == 0 {
                    crate::system::exit(98);
                }
                place.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        }
    }
}

/// Calls the C library's `fflush`.
pub(super) fn flush(stream: usize) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(usize) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::fflush as usize)) };
    real(stream)
}

/// Calls the C library's `fclose`.
pub(super) fn close_stream(stream: usize) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(usize) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::fclose as usize)) };
    real(stream)
}

/// Returns the descriptor of a stream.
pub(super) fn descriptor_of(stream: usize) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(usize) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::fileno_unlocked as usize)) };
    real(stream)
}

/// Calls the C library's `setvbuf`.
pub(super) fn set_buffer(stream: usize, buffer: usize, mode: i32, size: usize) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(usize, usize, i32, usize) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::setvbuf as usize)) };
    real(stream, buffer, mode, size)
}

/// Calls the C library's `read`, which is a cancellation point.
///
/// # Safety
/// Same as that function.
pub(super) unsafe fn read(descriptor: i32, bytes: usize, length: usize) -> isize {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(i32, usize, usize) -> isize =
        unsafe { core::mem::transmute(Name::real(Name::read as usize)) };
    real(descriptor, bytes, length)
}

/// Calls the C library's `socket`.
pub(super) fn socket(family: i32, kind: i32, protocol: i32) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(i32, i32, i32) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::socket as usize)) };
    real(family, kind, protocol)
}

/// Calls the C library's `setsockopt`.
pub(super) fn set_option(socket: i32, level: i32, name: i32, value: usize, length: u32) -> i32 {
    // SAFETY: the address is that of a function with this signature.
    let real: extern "C" fn(i32, i32, i32, usize, u32) -> i32 =
        unsafe { core::mem::transmute(Name::real(Name::setsockopt as usize)) };
    real(socket, level, name, value, length)
}

/// Calls the C library's `pipe` or `pipe2`.
///
/// # Safety
/// Same as that function.
pub(super) unsafe fn pipe(name: Name, ends: *mut i32, flags: i32) -> i32 {
    // SAFETY: the address is that of a function with this signature, except that `pipe` ignores the flags.
    let real: extern "C" fn(*mut i32, i32) -> i32 =
        unsafe { core::mem::transmute(Name::real(name as usize)) };
    real(ends, flags)
}

/// Returns an address that is unique to this thread.
pub(super) fn thread() -> usize {
    let address: usize;
    // SAFETY: reads the thread's pointer to itself.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("mov {}, fs:[0]", out(reg) address, options(nostack, readonly));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) address, options(nostack));
    }
    address
}
