//! Arms the tracing, or reports what it lacks.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use super::asm::AsmError;
use super::bpf::{Program, Refused};
use super::btf::Btf;
use super::entry_exit_overhead::{self, Calls, Faults, Untraced};
use super::offsets::{Offsets, VMLINUX};
use super::perf::{self, SoftwareEvent};
use super::programs::{self, Context, Maps, Sides, Sizes};
use super::ring::Ring;
use crate::command::TraceOptions;
use crate::error::{TraceError, system};
use crate::stacks::StackPool;

/// Size in bytes of an unused ring: whole pages on every system.
const UNUSED_RING: u32 = 64 << 10;

/// Armed programs and their tables; dropping this value removes them all.
#[derive(Debug)]
pub(crate) struct Session {
    /// The shared tables.
    pub maps: Maps,
    /// The ring of records.
    pub ring: Ring,
    /// The ring of stack records.
    pub stacks: Ring,
    /// Why page faults are not timed although this was requested.
    pub untimed_faults: Option<String>,
    /// The cost of faults outside the measured times.
    pub(super) faults: Option<Faults>,
    /// The cost of each call, and the part of it outside the measured time.
    pub(super) calls: Option<Calls>,
    follow: Program,
    /// The attachments, in the order of attachment: first the programs for forks and executions, then those
    /// that record.
    attached: Vec<OwnedFd>,
}

impl Session {
    /// Loads and attaches everything. No thread is traced yet.
    ///
    /// # Errors
    /// [`TraceError::NotAllowed`], or the error that names what this kernel lacks.
    pub(crate) fn arm(options: &TraceOptions) -> Result<Self, TraceError> {
        Self::arm_with(options, Sides::Both, true)
    }

    /// Does the same as [`Session::arm`], with programs that trace these sides of a switch. If `hold` is set,
    /// they may hold back a thread for the reader.
    pub(super) fn arm_with(
        options: &TraceOptions,
        sides: Sides,
        hold: bool,
    ) -> Result<Self, TraceError> {
        if !numbers_are_the_kernels() {
            return Err(TraceError::Namespace);
        }
        let offsets = offsets()?;
        let sizes = Sizes {
            threads: options.most_threads,
            calls: options.most_rows,
            off_cpu: options.most_rows / 2,
            ring: options.ring_bytes,
            stacks: match options.call_stacks {
                Some(_) => options.stack_ring_bytes,
                None => UNUSED_RING,
            },
        };
        let maps = Maps::create(sizes).map_err(refused_map)?;
        let ring = Ring::map(maps.ring.fd(), sizes.ring).map_err(system("mapping the ring"))?;
        let stacks = Ring::map(maps.stack_ring.fd(), sizes.stacks);
        let stacks = stacks.map_err(system("mapping the ring of stacks"))?;
        let distance = options.call_stacks.map(shift);
        // No stacks are recorded during the measurements before the run.
        set_distance(&maps, programs::stacks::NEVER)?;
        let shortest = options.timeline.map(|t| t.shortest.as_nanos());
        let context = Context {
            offsets: &offsets,
            maps: &maps,
            interval_ns: shortest.map(|ns| ns.min(2_000_000_000) as i32),
            entries: options.entries,
            fault_times: options.fault_times,
            ends_at_rights: !crate::rights::caller_is_root(),
            sides,
            hold,
            stacks: distance,
            stack_bytes: options.stacks.as_ref().map_or(0, StackPool::bytes_to_copy),
        };
        let code = programs::follow_me(&context).map_err(defect)?;
        let follow = Program::callable("fathom_follow", &code);
        let follow = follow.map_err(|r| refused_program("fathom_follow", r))?;
        let untraced = Untraced::measure(options.fault_times);
        let (mut attached, untimed_faults) = match options.fault_times {
            true => attach_fault_end(&context),
            false => (Vec::new(), None),
        };
        // If the end of faults isn't seen, seeing their beginning is useless.
        let fault_times = options.fault_times && untimed_faults.is_none();
        let context = Context {
            fault_times,
            ..context
        };
        for p in programs::attached(&context).map_err(defect)? {
            let program = Program::tracing(p.name, &p.code, p.tracepoint);
            let program = program.map_err(|r| refused_program(p.name, r))?;
            attached.push(
                program
                    .attach()
                    .map_err(system("attaching to a tracepoint"))?,
            );
        }
        let mut session = Self {
            maps,
            ring,
            stacks,
            untimed_faults,
            faults: None,
            calls: None,
            follow,
            attached,
        };
        let (of_faults, of_calls) = entry_exit_overhead::measure(&mut session, untraced);
        session.faults = of_faults.filter(|_| fault_times);
        session.calls = of_calls;
        if let Some(distance) = distance {
            set_distance(&session.maps, distance)?;
        }
        Ok(session)
    }

    /// Returns the program that a held child runs on itself in order to be traced.
    pub(crate) fn follow(&self) -> BorrowedFd<'_> {
        self.follow.fd()
    }

    /// Detaches the programs; the tables can still be read.
    ///
    /// They are detached in reverse order, so that forks and executions are still seen while anything is
    /// recorded. Otherwise a process that executes a program with its own privileges in between would
    /// continue to be recorded.
    pub(crate) fn disarm(&mut self) {
        while self.attached.pop().is_some() {}
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.disarm();
    }
}

fn set_distance(maps: &Maps, distance: u32) -> Result<(), TraceError> {
    for (kind, entry) in programs::stacks::distances(distance) {
        let set = maps.chosen.set(&kind.to_ne_bytes(), &entry);
        set.map_err(system("writing the interval between stack samples"))?;
    }
    Ok(())
}

/// Returns the exponent of the largest power of two, in ns, that is not above `distance`; the distance is at
/// least 4 us.
fn shift(distance: Duration) -> u32 {
    let ns = u64::try_from(distance.as_nanos()).unwrap_or(u64::MAX);
    ns.clamp(1 << 12, 1 << 30).ilog2()
}

/// The inode of the first process namespace (`PROC_PID_INIT_INO` of `include/linux/proc_ns.h`).
const FIRST_NAMESPACE: u64 = 0xefff_fffc;

/// Returns whether this process is in the first process namespace, which has the ids that the programs see;
/// true if `/proc` doesn't show this.
fn numbers_are_the_kernels() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").map_or(true, |file| file.ino() == FIRST_NAMESPACE)
}

/// Attaches the program for the end of page faults, or returns why they can't be timed.
fn attach_fault_end(context: &Context<'_>) -> (Vec<OwnedFd>, Option<String>) {
    if context.offsets.page_fault_user.is_none() {
        let why = "this kernel does not show where they begin";
        return (Vec::new(), Some(why.to_owned()));
    }
    match fault_end(context) {
        Ok(attached) => (attached, None),
        Err(why) => (Vec::new(), Some(why)),
    }
}

fn fault_end(context: &Context<'_>) -> Result<Vec<OwnedFd>, String> {
    let code = programs::fault_end(context).map_err(|error| error.to_string())?;
    let program = Program::perf_event("fathom_served", &code)
        .map_err(|refused| format!("{} {}", refused.error, refused.log))?;
    let mut attached = Vec::new();
    for event in [SoftwareEvent::MinorFault, SoftwareEvent::MajorFault] {
        let events = perf::run_on(event, program.fd());
        attached.extend(events.map_err(|error| format!("perf_event_open: {error}"))?);
    }
    Ok(attached)
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
        Some(libc::EPERM) => TraceError::NotAllowed("bpf(2) refuses to create a map (EPERM)"),
        Some(libc::ENOSYS) => TraceError::Kernel("it has no bpf(2)".to_owned()),
        _ => system("creating a map in the kernel")(error),
    }
}

fn refused_program(name: &str, refused: Refused) -> TraceError {
    match refused.error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if refused.log.is_empty() => {
            TraceError::NotAllowed("bpf(2) refuses to load a tracing program (EPERM)")
        }
        _ => TraceError::Kernel(format!(
            "program {name} was rejected ({}): {}",
            refused.error, refused.log
        )),
    }
}

fn defect(error: AsmError) -> TraceError {
    TraceError::Kernel(format!("a program could not be assembled: {error}"))
}
