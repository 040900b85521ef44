//! A program that stops at a place in its own code, and its stack there.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_stacks::{Chain, Files, Mapping, Registers, Unwinder, named};

/// Bytes of stack that are copied by default.
pub(crate) const COPY: usize = 1 << 20;

/// A program compiled for a test.
pub(crate) struct Program {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Program {
    /// Compiles a program. Prints a message and returns `None` if the compiler isn't installed.
    pub(crate) fn compiled(source: &str, name: &str, command: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(name), source).expect("written");
        let path = folder.path().join("program");
        let made = Command::new(command[0])
            .args(&command[1..])
            .arg(name)
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .output();
        let Ok(made) = made else {
            fathom_test_log::skipped(&format!("there is no {}", command[0]));
            return None;
        };
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{command:?}: {said}");
        Some(Self {
            _folder: folder,
            path,
        })
    }
}

/// A thread's stack at the place where it stopped.
pub(crate) struct Stopped {
    pub registers: Registers,
    pub frame: u64,
    pub space: Vec<Mapping>,
    pub files: Files,
    pub stack: Vec<u8>,
}

impl Stopped {
    /// Runs a program up to the first breakpoint in its own code.
    pub(crate) fn at_breakpoint(program: &Path, copied: usize) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: a single system call that accesses no memory.
        unsafe {
            command.pre_exec(|| {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                Ok(())
            });
        }
        let mut child = command.spawn().expect("it runs");
        let pid = child.id() as i32;
        // The first stop is the one at `execve`. Threads created by the program are not traced.
        let mut traps = 0;
        while traps < 2 {
            let mut status = 0;
            // SAFETY: only waits for a child of this process.
            let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
            assert_eq!(waited, pid, "it ended without a breakpoint");
            assert!(libc::WIFSTOPPED(status), "status {status:x}");
            let signal = libc::WSTOPSIG(status);
            let pass_on = match signal == libc::SIGTRAP {
                true => 0,
                false => signal,
            };
            traps += i32::from(signal == libc::SIGTRAP);
            if traps < 2 {
                // SAFETY: the child is stopped.
                unsafe { libc::ptrace(libc::PTRACE_CONT, pid, 0, pass_on) };
            }
        }
        let mut registers = std::mem::MaybeUninit::uninit();
        // SAFETY: the child is stopped, and the kernel writes the whole structure.
        let (registers, frame) = unsafe {
            let got = libc::ptrace(libc::PTRACE_GETREGS, pid, 0, registers.as_mut_ptr());
            assert_eq!(got, 0);
            let mut registers: libc::user_regs_struct = registers.assume_init();
            // The breakpoint itself takes one byte.
            registers.rip -= 1;
            (Registers::of_ptrace(&registers), registers.rbp)
        };
        let mut files = Files::default();
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("maps");
        let space = maps
            .lines()
            .filter_map(|line| mapping(line, &mut files, pid as u32))
            .collect();
        let memory = File::open(format!("/proc/{pid}/mem")).expect("its memory");
        let mut stack = vec![0; copied];
        let from = registers.stack().expect("known");
        let read = memory.read_at(&mut stack, from).expect("its stack");
        stack.truncate(read);
        child.kill().expect("it is there");
        child.wait().expect("it ends");
        Self {
            registers,
            frame,
            space,
            files,
            stack,
        }
    }

    pub(crate) fn chain(&self) -> Chain {
        let (registers, from, stack) = self.copied();
        Unwinder::default().unwind(&self.files, &self.space, registers, from, stack)
    }

    /// Returns the registers, and the copy of the stack with its address.
    pub(crate) fn copied(&self) -> (&Registers, u64, &[u8]) {
        let from = self.registers.stack().expect("known");
        (&self.registers, from, &self.stack)
    }

    /// Returns the return addresses found by frame pointers, as the kernel does.
    pub(crate) fn by_frame_pointers(&self) -> Vec<u64> {
        let mut frame = self.frame;
        let from = self.registers.stack().expect("known");
        let word = |address: u64| {
            let at = usize::try_from(address.checked_sub(from)?).ok()?;
            Some(u64::from_ne_bytes(
                self.stack.get(at..at + 8)?.try_into().ok()?,
            ))
        };
        let mut found = vec![self.registers.instruction().expect("known")];
        while let (Some(next), Some(address)) = (word(frame), word(frame + 8)) {
            found.push(address);
            frame = next;
        }
        found
    }

    /// Returns the names of a chain's functions, innermost first, including inlined ones.
    pub(crate) fn names(&self, chain: &Chain) -> Vec<String> {
        let named = named(&self.files, chain.places.iter().copied());
        let frames = chain.places.iter().flat_map(|place| &named[place]);
        frames
            .map(|frame| match &frame.function {
                Some(name) => name.clone(),
                None => format!("{}+{:#x}", frame.binary, frame.offset.unwrap_or(0)),
            })
            .collect()
    }
}

fn mapping(line: &str, files: &mut Files, pid: u32) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let rights = fields.next()?;
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hexadecimal(fields.next()?)?;
    let inode = fields.nth(1)?.parse().ok()?;
    let name = fields.next().unwrap_or_default().trim_start();
    let name = if name.is_empty() { "//anon" } else { name };
    let from = hexadecimal(from)?;
    rights.contains('x').then(|| Mapping {
        from,
        length: hexadecimal(to).expect("a number") - from,
        offset,
        file: files.number(name, inode, pid),
    })
}
