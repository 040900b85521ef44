//! Probes in selected processes, for Linux 6.6 and later: a program that the kernel runs at these places in
//! these processes (`uprobe_multi`). Other processes that run the same file are not affected.

use std::collections::HashMap;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use super::places::{self, Place};
use super::waits::{Hit, Parsed};
use crate::kernel::asm::{Alu, Asm, Cond, Helper, Reg, Width};
use crate::kernel::bpf::{Map, MapKind, Program};
use crate::kernel::ring::Ring;

use Reg::{R0, R1, R2, R3, R4, R6, R10};

/// Size of the ring in bytes, enough for twenty thousand hits between two readings 10 ms apart.
const RING_BYTES: u32 = 1 << 20;
/// Size of a hit in the ring: the time, the process, the goroutine and whether a wait begins, 8 bytes each.
const HIT: i16 = 32;
/// The kernel's flag that disables the wake-up, because the reader polls.
const NO_WAKEUP: i32 = 1;

#[derive(Debug)]
pub(super) struct OfProcesses {
    ring: Ring,
    /// Total number of hits for which the ring had no space.
    lost: Map,
    reported: u64,
    program: Program,
    path: CString,
    places: Vec<(u64, u64)>,
    /// Attachments by process.
    links: HashMap<u32, OwnedFd>,
}

impl OfProcesses {
    /// Loads the program and attaches it to these places of these processes.
    ///
    /// # Errors
    /// The kernel's: `EPERM` without permission, `EINVAL` before Linux 6.6.
    pub(super) fn begin(path: CString, places: &[Place], pids: &[u32]) -> io::Result<Self> {
        let ring = Map::create(MapKind::Ring, "fathom_locks", 0, 0, RING_BYTES)?;
        let lost = Map::create(MapKind::Array, "fathom_unlocked", 4, 8, 1)?;
        let code = code(&ring, &lost).map_err(io::Error::other)?;
        let program = Program::in_process("fathom_lock", &code).map_err(|it| it.error)?;
        let places = places.iter().map(|it| (it.offset, u64::from(it.begins)));
        let mut new = Self {
            ring: Ring::map(ring.fd(), RING_BYTES)?,
            lost,
            reported: 0,
            program,
            path,
            places: places.collect(),
            links: HashMap::new(),
        };
        for pid in pids {
            new.watch(*pid)?;
        }
        Ok(new)
    }

    /// Probes another process, once.
    pub(super) fn watch(&mut self, pid: u32) -> io::Result<()> {
        if !self.links.contains_key(&pid) {
            let link = self.program.attach_in(pid, &self.path, &self.places)?;
            self.links.insert(pid, link);
        }
        Ok(())
    }

    /// Passes new records to `take`.
    pub(super) fn read(&mut self, mut take: impl FnMut(Parsed)) {
        self.ring.drain(|record| take(parse(record)));
        let lost = self.lost.get(&[0; 4]).ok().flatten();
        let lost = lost.and_then(|bytes| bytes.try_into().ok());
        let lost = lost.map_or(self.reported, u64::from_ne_bytes);
        if lost > self.reported {
            take(Parsed::Lost(lost - self.reported));
            self.reported = lost;
        }
    }
}

fn parse(record: &[u8]) -> Parsed {
    let [at, who, goroutine, begins, ..] = record.as_chunks::<8>().0 else {
        return Parsed::Nothing;
    };
    let number = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    Parsed::Hit(Hit {
        at: number(at),
        pid: number(who) as u32,
        goroutine: number(goroutine),
        begins: number(begins) != 0,
    })
}

/// Returns the code that sends a hit, or counts the hit as lost if the ring is full.
fn code(ring: &Map, lost: &Map) -> Result<Vec<u64>, crate::kernel::asm::AsmError> {
    let mut a = Asm::new();
    let done = a.label();
    a.mov(R6, R1)
        .call(Helper::KtimeNs)
        .store(Width::Double, R10, -HIT, R0)
        .call(Helper::CurrentPidTgid)
        .alu_imm(Alu::ShiftRight, R0, 32)
        .store(Width::Double, R10, 8 - HIT, R0)
        .load(Width::Double, R1, R6, places::GOROUTINE_IN_REGISTERS)
        .store(Width::Double, R10, 16 - HIT, R1)
        .mov(R1, R6)
        .call(Helper::AttachCookie)
        .store(Width::Double, R10, 24 - HIT, R0)
        .load_map(R1, ring.fd())
        .mov(R2, R10)
        .alu_imm(Alu::Add, R2, i32::from(-HIT))
        .mov_imm(R3, i32::from(HIT))
        .mov_imm(R4, NO_WAKEUP)
        .call(Helper::RingOutput)
        .jump_if_imm(Cond::Equal, R0, 0, done)
        .store_imm(Width::Word, R10, -HIT, 0)
        .load_map(R1, lost.fd())
        .mov(R2, R10)
        .alu_imm(Alu::Add, R2, i32::from(-HIT))
        .call(Helper::MapLookup)
        .jump_if_imm(Cond::Equal, R0, 0, done)
        .mov_imm(R1, 1)
        .atomic_add(R0, 0, R1);
    a.bind(done);
    a.exit();
    a.finish()
}
