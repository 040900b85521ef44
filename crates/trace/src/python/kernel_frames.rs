//! Python's frames, read by a program in the kernel as a sample is taken.
//!
//! The program runs on each sampling event, in the interrupted thread: what it reads is the thread's
//! memory at that moment. It knows the threads whose state the reader has found, follows the list of
//! their frames, and sends copies of them by a ring of its own; a sample has those of its thread whose
//! time is next to its own.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use fathom_stacks::python::{FRAME_BYTES, Frames, Interpreter, Layout, MOST_FRAMES};

use crate::kernel::asm::{Alu, Asm, AsmError, Cond, Helper, Reg, Width};
use crate::kernel::bpf::{Map, MapKind, Program};
use crate::kernel::ring::Ring;
use crate::perf::event;
use crate::records::{u32_at, u64_at};

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

const IOC_SET_BPF: libc::c_ulong = 0x4004_2408;

/// Threads alive at once whose frames are read.
const MOST_THREADS: u32 = 8_192;
/// Some hundred of the largest records; a sample in 4 ms of each of 16 CPUs between two readings.
const RING_BYTES: u32 = 4 << 20;
/// Between the time of a sample and that of its copies of frames nothing but these are made, in 10 us;
/// a virtual machine may be held up there. Two samples are twice as far from one another.
const APART_NS: u64 = 450_000;
/// Copies of a thread that wait for their samples.
const MOST_PENDING: usize = 1_024;

/// Of a thread: where its state lies, and from there where its frame is, what leads to it being at
/// [`entry::THROUGH`] if that isn't negative, and where a frame has who called it.
mod entry {
    pub(super) const STATE: i16 = 0;
    pub(super) const FRAME: i16 = 8;
    pub(super) const THROUGH: i16 = 16;
    pub(super) const PREVIOUS: i16 = 24;
    pub(super) const SIZE: usize = 32;
}

/// A record: who, when, how the reading ended, and the frames.
mod record {
    pub(super) const TID: i16 = 0;
    pub(super) const TIME: i16 = 8;
    pub(super) const END: i16 = 16;
    pub(super) const FRAMES: usize = 24;
}
const SIZE: usize = record::FRAMES + MOST_FRAMES * FRAME_BYTES;

/// Of [`record::END`]: the outermost frame was reached.
const WHOLE: i32 = 1;

/// Frame slots.
const KEY_SLOT: i16 = -4;
const WORD_SLOT: i16 = -16;

/// The program with its tables.
#[derive(Debug)]
pub(crate) struct KernelFrames {
    program: Program,
    threads: Map,
    ring: Ring,
    _ring_map: Map,
    _scratch: Map,
    pending: HashMap<u32, VecDeque<Copied>>,
}

/// A thread's frames at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copied {
    at: u64,
    is_whole: bool,
    frames: Box<[u8]>,
}

impl KernelFrames {
    /// On these events; `None` where programs of the kernel aren't allowed.
    pub(crate) fn on(events: &[OwnedFd]) -> Option<Self> {
        let mut all = Self::new().ok()?;
        all.attach(events).then_some(all)
    }

    fn new() -> io::Result<Self> {
        let threads = Map::create(MapKind::Hash, "fathom_python", 4, entry::SIZE, MOST_THREADS)?;
        let scratch = Map::create(MapKind::PerCpuArray, "fathom_frames", 4, SIZE, 1)?;
        let ring_map = Map::create(MapKind::Ring, "fathom_frames", 0, 0, RING_BYTES)?;
        let ring = Ring::map(ring_map.fd(), RING_BYTES)?;
        let code = code(&threads, &scratch, &ring_map).map_err(io::Error::other)?;
        let program = Program::perf_event("fathom_python", &code);
        Ok(Self {
            program: program.map_err(|refused| refused.error)?,
            threads,
            ring,
            _ring_map: ring_map,
            _scratch: scratch,
            pending: HashMap::new(),
        })
    }

    /// On these events, too; whether the kernel allows it.
    pub(crate) fn attach(&mut self, events: &[OwnedFd]) -> bool {
        let program = self.program.fd().as_raw_fd();
        let set = |one| event::request(one, IOC_SET_BPF, program);
        events.iter().all(|one| set(one).is_ok())
    }

    /// A thread whose state lies there.
    pub(crate) fn add(&self, tid: u32, state: u64, layout: &Layout) {
        let mut value = [0; entry::SIZE];
        let through = layout.through.map_or(-1, |at| at as i64);
        for (at, word) in [
            (entry::STATE, state),
            (entry::FRAME, layout.frame),
            (entry::THROUGH, through as u64),
            (entry::PREVIOUS, layout.previous),
        ] {
            value[at as usize..][..8].copy_from_slice(&word.to_ne_bytes());
        }
        // Where the table is full its frames are unknown.
        _ = self.threads.set(&tid.to_ne_bytes(), &value);
    }

    /// A thread has ended.
    pub(crate) fn remove(&self, tid: u32) {
        _ = self.threads.remove(&tid.to_ne_bytes());
    }

    /// Takes what was sent since.
    pub(crate) fn drain(&mut self) {
        let pending = &mut self.pending;
        self.ring.drain(|bytes| {
            let decoded = decode(bytes);
            let Some((tid, copied)) = decoded else { return };
            let of_thread = pending.entry(tid).or_default();
            if of_thread.len() >= MOST_PENDING {
                of_thread.pop_front();
            }
            of_thread.push_back(copied);
        });
    }

    /// The frames of a thread that was sampled then. Those of a later sample are asked for first.
    pub(crate) fn taken(&mut self, tid: u32, at: u64, interpreter: &Interpreter) -> Option<Frames> {
        let of_thread = self.pending.get_mut(&tid)?;
        while of_thread
            .back()
            .is_some_and(|copied| copied.at > at + APART_NS)
        {
            of_thread.pop_back();
        }
        let copied = of_thread.pop_back_if(|copied| copied.at + APART_NS > at)?;
        let layout = &interpreter.layout;
        Some(Frames::of(layout, &copied.frames, copied.is_whole))
    }
}

fn decode(bytes: &[u8]) -> Option<(u32, Copied)> {
    let copied = Copied {
        at: u64_at(bytes, record::TIME)?,
        is_whole: u64_at(bytes, record::END)? == WHOLE as u64,
        frames: bytes.get(record::FRAMES..)?.into(),
    };
    Some((u32_at(bytes, record::TID)?, copied))
}

/// Sends the frames of the interrupted thread if it is one of the table, and lets the sample be taken.
fn code(threads: &Map, scratch: &Map, ring: &Map) -> Result<Vec<u64>, AsmError> {
    let mut a = Asm::new();
    let (out, done, whole) = (a.label(), a.label(), a.label());
    a.call(Helper::CurrentPidTgid);
    a.store(Width::Word, R10, KEY_SLOT, R0);
    lookup(&mut a, threads);
    a.jump_if_imm(Cond::Equal, R0, 0, out);
    a.mov(R7, R0);
    a.load(Width::Word, R6, R10, KEY_SLOT);
    a.store_imm(Width::Word, R10, KEY_SLOT, 0);
    lookup(&mut a, scratch);
    a.jump_if_imm(Cond::Equal, R0, 0, out);
    a.mov(R8, R0);
    a.store(Width::Double, R8, record::TID, R6);
    a.store_imm(Width::Double, R8, record::END, 0);
    a.call(Helper::KtimeNs);
    a.store(Width::Double, R8, record::TIME, R0);
    // R6 counts the bytes of frames, R9 is where the next one lies.
    a.mov_imm(R6, 0);
    a.load(Width::Double, R9, R7, entry::STATE);
    let direct = a.label();
    read_word(&mut a, entry::FRAME);
    a.jump_if_imm(Cond::NotEqual, R0, 0, done);
    a.load(Width::Double, R9, R10, WORD_SLOT);
    a.load(Width::Double, R1, R7, entry::THROUGH);
    a.jump_if_imm(Cond::SLess, R1, 0, direct);
    read_word(&mut a, entry::THROUGH);
    a.jump_if_imm(Cond::NotEqual, R0, 0, done);
    a.load(Width::Double, R9, R10, WORD_SLOT);
    a.bind(direct);
    for number in 0..MOST_FRAMES {
        let at = record::FRAMES + number * FRAME_BYTES;
        a.jump_if_imm(Cond::Equal, R9, 0, whole);
        a.mov(R1, R8).alu_imm(Alu::Add, R1, at as i32);
        a.mov_imm(R2, FRAME_BYTES as i32).mov(R3, R9);
        a.call(Helper::ProbeReadUser);
        a.jump_if_imm(Cond::NotEqual, R0, 0, done);
        read_word(&mut a, entry::PREVIOUS);
        a.jump_if_imm(Cond::NotEqual, R0, 0, done);
        a.load(Width::Double, R9, R10, WORD_SLOT);
        a.mov_imm(R6, ((number + 1) * FRAME_BYTES) as i32);
    }
    a.jump(done);
    a.bind(whole);
    a.store_imm(Width::Double, R8, record::END, WHOLE);
    a.bind(done);
    a.load_map(R1, ring.fd());
    a.mov(R2, R8).mov(R3, R6);
    a.alu_imm(Alu::Add, R3, record::FRAMES as i32);
    a.mov_imm(R4, crate::kernel::programs::NO_WAKEUP);
    a.call(Helper::RingOutput);
    a.bind(out);
    a.exit_with(1);
    a.finish()
}

/// `R0 = ` the entry whose key is in the frame.
fn lookup(a: &mut Asm, map: &Map) {
    a.load_map(R1, map.fd());
    a.mov(R2, R10).alu_imm(Alu::Add, R2, i32::from(KEY_SLOT));
    a.call(Helper::MapLookup);
}

/// Reads the word that lies as far behind `R9` as this member of the entry in `R7` says. `R0 = 0` if
/// that could be read.
fn read_word(a: &mut Asm, member: i16) {
    a.load(Width::Double, R3, R7, member);
    a.alu(Alu::Add, R3, R9);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, i32::from(WORD_SLOT));
    a.mov_imm(R2, 8).call(Helper::ProbeReadUser);
}
