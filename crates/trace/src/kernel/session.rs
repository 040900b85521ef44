//! How is tracing armed, and what is needed for it?

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::asm::AsmError;
use super::bpf::{Program, Refused};
use super::btf::Btf;
use super::offsets::{Offsets, VMLINUX};
use super::programs::{self, Context, Maps, Sizes};
use super::ring::Ring;
use crate::command::TraceOptions;
use crate::error::{TraceError, system};

/// Armed programs and their tables; dropping it removes them all.
#[derive(Debug)]
pub struct Session {
    /// The shared tables.
    pub maps: Maps,
    /// The records.
    pub ring: Ring,
    follow: Program,
    attached: Vec<OwnedFd>,
}

impl Session {
    /// Loads and attaches everything. No thread is traced yet.
    ///
    /// # Errors
    /// [`TraceError::NotAllowed`], or what this kernel lacks.
    pub fn arm(options: &TraceOptions) -> Result<Self, TraceError> {
        let offsets = offsets()?;
        let sizes = Sizes {
            threads: options.most_threads,
            calls: options.most_rows,
            off_cpu: options.most_rows / 2,
            ring: options.ring_bytes,
        };
        let maps = Maps::create(sizes).map_err(refused_map)?;
        let ring = Ring::map(maps.ring.fd(), sizes.ring).map_err(system("mapping the ring"))?;
        let shortest = options.timeline.map(|t| t.shortest.as_nanos());
        let context = Context {
            offsets: &offsets,
            maps: &maps,
            interval_ns: shortest.map(|ns| ns.min(2_000_000_000) as i32),
            code_faults: options.code_faults,
        };
        let code = programs::follow_me(&context).map_err(defect)?;
        let follow = Program::callable("fathom_follow", &code);
        let follow = follow.map_err(|r| refused_program("fathom_follow", r))?;
        let mut attached = Vec::new();
        for p in programs::attached(&context).map_err(defect)? {
            let program = Program::tracing(p.name, &p.code, p.tracepoint);
            let program = program.map_err(|r| refused_program(p.name, r))?;
            attached.push(
                program
                    .attach()
                    .map_err(system("attaching to a tracepoint"))?,
            );
        }
        Ok(Self {
            maps,
            ring,
            follow,
            attached,
        })
    }

    /// The program that a held child runs on itself to be traced.
    pub fn follow(&self) -> BorrowedFd<'_> {
        self.follow.fd()
    }

    /// Takes the programs off; the tables can still be read.
    pub fn disarm(&mut self) {
        self.attached.clear();
    }
}

fn offsets() -> Result<Offsets, TraceError> {
    let data = std::fs::read(VMLINUX).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            TraceError::Kernel(format!("it has no type information ({VMLINUX})"))
        }
        _ => system("reading the kernel's type information")(e),
    })?;
    Ok(Offsets::of(&Btf::parse(&data)?)?)
}

fn refused_map(error: io::Error) -> TraceError {
    match error.raw_os_error() {
        Some(libc::EPERM) => TraceError::NotAllowed("bpf(2) refuses to make a map (EPERM)"),
        Some(libc::ENOSYS) => TraceError::Kernel("it has no bpf(2)".to_owned()),
        _ => system("making a map in the kernel")(error),
    }
}

fn refused_program(name: &str, refused: Refused) -> TraceError {
    match refused.error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if refused.log.is_empty() => {
            TraceError::NotAllowed("bpf(2) refuses to load a tracing program (EPERM)")
        }
        _ => TraceError::Kernel(format!(
            "program {name} was refused ({}): {}",
            refused.error, refused.log
        )),
    }
}

fn defect(error: AsmError) -> TraceError {
    TraceError::Kernel(format!("a program could not be assembled: {error}"))
}
