//! Python frames, read by a program in the kernel when a sample is taken.
//!
//! The program runs for each sampling event, in the interrupted thread, and reads the thread's memory at that
//! moment. For threads whose state the reader has found, it follows the list of their frames and sends copies
//! of them through a separate ring. A sample gets the copies of its thread with the closest time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use fathom_stacks::python::{FRAME_BYTES, Frames, Interpreter, Layout, MOST_FRAMES};

use crate::kernel::asm::{Alu, Asm, AsmError, Cond, Helper, Reg, Width};
use crate::kernel::bpf::{Map, MapKind, Program};
use crate::kernel::ring::Ring;
use crate::perf::event;
use crate::records::{u32_at, u64_at};

use Reg::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};

const IOC_SET_BPF: libc::c_ulong = 0x4004_2408;

/// Maximum number of simultaneous threads whose frames are read.
const MOST_THREADS: u32 = 8_192;
/// Size of the ring in bytes, enough for about a hundred of the largest records: the samples between two
/// readings, with one every 4 ms on each of 16 CPUs.
const RING_BYTES: u32 = 4 << 20;
/// Maximum time between a sample and the copies of its frames, ns. Only the copies are made in between, which
/// takes 10 us, but a virtual machine may be interrupted there. Two samples are twice as far apart.
const APART_NS: u64 = 450_000;
/// Maximum number of a thread's copies that wait for their samples.
const MOST_PENDING: usize = 1_024;

/// The entry of a thread. It holds the address of the thread's state, the offset from there to its frame, and
/// the offset from a frame to its caller. If [`entry::THROUGH`] isn't negative, the frame is found indirectly
/// through that offset.
mod entry {
    pub(super) const STATE: i16 = 0;
    pub(super) const FRAME: i16 = 8;
    pub(super) const THROUGH: i16 = 16;
    pub(super) const PREVIOUS: i16 = 24;
    pub(super) const SIZE: usize = 32;
}

/// A record: thread, time, how the reading ended, and the frames.
mod record {
    pub(super) const TID: i16 = 0;
    pub(super) const TIME: i16 = 8;
    pub(super) const END: i16 = 16;
    pub(super) const FRAMES: usize = 24;
}
const SIZE: usize = record::FRAMES + MOST_FRAMES * FRAME_BYTES;

/// Flag in [`record::END`]: the outermost frame was reached.
const WHOLE: i32 = 1;
/// Flag in [`record::END`]: the record belongs to a call or a fault, not to a sample.
const OF_CALL: i32 = 2;

/// Frame slots that the programs for calls don't use when frames are sent.
const KEY_SLOT: i16 = -4;
const WORD_SLOT: i16 = -344;

/// The tables shared by programs that send frames.
#[derive(Debug)]
pub(crate) struct FrameMaps {
    threads: Map,
    scratch: Map,
    ring: Map,
}

impl FrameMaps {
    /// Creates empty tables.
    ///
    /// # Errors
    /// The kernel's, most often `EPERM`.
    pub(crate) fn create() -> io::Result<Self> {
        Ok(Self {
            threads: Map::create(MapKind::Hash, "fathom_python", 4, entry::SIZE, MOST_THREADS)?,
            scratch: Map::create(MapKind::PerCpuArray, "fathom_frames", 4, SIZE, 1)?,
            ring: Map::create(MapKind::Ring, "fathom_frames", 0, 0, RING_BYTES)?,
        })
    }
}

/// The program for sampling events, and the data sent by it and by other programs.
#[derive(Debug)]
pub(crate) struct KernelFrames {
    program: Program,
    maps: Rc<FrameMaps>,
    ring: Ring,
    pending: HashMap<u32, VecDeque<Copied>>,
}

/// A thread's frames at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copied {
    at: u64,
    of_call: bool,
    is_whole: bool,
    frames: Box<[u8]>,
}

impl KernelFrames {
    /// Attaches the program to these events; `None` if kernel programs aren't allowed.
    pub(crate) fn on(events: &[OwnedFd], maps: Option<Rc<FrameMaps>>) -> Option<Self> {
        let mut all = Self::new(maps).ok()?;
        all.attach(events).then_some(all)
    }

    fn new(maps: Option<Rc<FrameMaps>>) -> io::Result<Self> {
        let maps = match maps {
            Some(maps) => maps,
            None => Rc::new(FrameMaps::create()?),
        };
        let ring = Ring::map(maps.ring.fd(), RING_BYTES)?;
        let code = on_sample(&maps).map_err(io::Error::other)?;
        let program = Program::perf_event("fathom_python", &code);
        Ok(Self {
            program: program.map_err(|refused| refused.error)?,
            maps,
            ring,
            pending: HashMap::new(),
        })
    }

    /// Attaches the program to these events too; returns whether the kernel allows it.
    pub(crate) fn attach(&mut self, events: &[OwnedFd]) -> bool {
        let program = self.program.fd().as_raw_fd();
        let set = |one| event::request(one, IOC_SET_BPF, program);
        events.iter().all(|one| set(one).is_ok())
    }

    /// Adds a thread with the address of its state.
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
        // If the table is full, the thread's frames are unknown.
        _ = self.maps.threads.set(&tid.to_ne_bytes(), &value);
    }

    /// Removes a thread that has ended.
    pub(crate) fn remove(&mut self, tid: u32) {
        self.pending.remove(&tid);
        _ = self.maps.threads.remove(&tid.to_ne_bytes());
    }

    /// Reads new records.
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

    /// Returns the frames of a thread that was sampled at this time.
    pub(crate) fn taken(&mut self, tid: u32, at: u64, interpreter: &Interpreter) -> Option<Frames> {
        let is_its = |copied: &Copied| !copied.of_call && copied.at.abs_diff(at) < APART_NS;
        self.last(tid, is_its, interpreter)
    }

    /// Returns the frames that came with the record of a call or a fault at this time.
    pub(crate) fn sent(&mut self, tid: u32, at: u64, interpreter: &Interpreter) -> Option<Frames> {
        self.last(tid, |copied| copied.of_call && copied.at == at, interpreter)
    }

    fn last(
        &mut self,
        tid: u32,
        is_its: impl Fn(&Copied) -> bool,
        interpreter: &Interpreter,
    ) -> Option<Frames> {
        let of_thread = self.pending.get_mut(&tid)?;
        let place = of_thread.iter().rposition(is_its)?;
        let copied = of_thread.remove(place)?;
        let layout = &interpreter.layout;
        Some(Frames::of(layout, &copied.frames, copied.is_whole))
    }
}

fn decode(bytes: &[u8]) -> Option<(u32, Copied)> {
    let end = u64_at(bytes, record::END)?;
    let copied = Copied {
        at: u64_at(bytes, record::TIME)?,
        of_call: end & OF_CALL as u64 != 0,
        is_whole: end & WHOLE as u64 != 0,
        frames: bytes.get(record::FRAMES..)?.into(),
    };
    Some((u32_at(bytes, record::TID)?, copied))
}

/// Returns the program that sends the frames of the interrupted thread if the table contains the thread, and
/// that lets the kernel take the sample.
fn on_sample(maps: &FrameMaps) -> Result<Vec<u64>, AsmError> {
    let mut a = Asm::new();
    a.call(Helper::KtimeNs);
    a.mov(R9, R0);
    send(maps, &mut a, 0);
    a.exit_with(1);
    a.finish()
}

/// Sends the frames of the running thread, which is in a call or a fault, with the time in `R9`, if the table
/// contains the thread. Clobbers all registers.
pub(crate) fn send_frames(maps: &FrameMaps, a: &mut Asm) {
    send(maps, a, OF_CALL);
}

fn send(maps: &FrameMaps, a: &mut Asm, kind: i32) {
    let (out, done, whole) = (a.label(), a.label(), a.label());
    a.call(Helper::CurrentPidTgid);
    a.store(Width::Word, R10, KEY_SLOT, R0);
    lookup(a, &maps.threads);
    a.jump_if_imm(Cond::Equal, R0, 0, out);
    a.mov(R7, R0);
    a.load(Width::Word, R6, R10, KEY_SLOT);
    a.store_imm(Width::Word, R10, KEY_SLOT, 0);
    lookup(a, &maps.scratch);
    a.jump_if_imm(Cond::Equal, R0, 0, out);
    a.mov(R8, R0);
    a.store(Width::Double, R8, record::TID, R6);
    a.store(Width::Double, R8, record::TIME, R9);
    a.store_imm(Width::Double, R8, record::END, kind);
    // `R6` counts the bytes of frames; `R9` is the address of the next frame.
    a.mov_imm(R6, 0);
    a.load(Width::Double, R9, R7, entry::STATE);
    let direct = a.label();
    read_word(a, entry::FRAME);
    a.jump_if_imm(Cond::NotEqual, R0, 0, done);
    a.load(Width::Double, R9, R10, WORD_SLOT);
    a.load(Width::Double, R1, R7, entry::THROUGH);
    a.jump_if_imm(Cond::SLess, R1, 0, direct);
    read_word(a, entry::THROUGH);
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
        read_word(a, entry::PREVIOUS);
        a.jump_if_imm(Cond::NotEqual, R0, 0, done);
        a.load(Width::Double, R9, R10, WORD_SLOT);
        a.mov_imm(R6, ((number + 1) * FRAME_BYTES) as i32);
    }
    a.jump(done);
    a.bind(whole);
    a.store_imm(Width::Double, R8, record::END, kind | WHOLE);
    a.bind(done);
    a.load_map(R1, maps.ring.fd());
    a.mov(R2, R8).mov(R3, R6);
    a.alu_imm(Alu::Add, R3, record::FRAMES as i32);
    a.mov_imm(R4, crate::kernel::programs::NO_WAKEUP);
    a.call(Helper::RingOutput);
    a.bind(out);
}

/// `R0 = ` the address of the entry whose key is in the frame.
fn lookup(a: &mut Asm, map: &Map) {
    a.load_map(R1, map.fd());
    a.mov(R2, R10).alu_imm(Alu::Add, R2, i32::from(KEY_SLOT));
    a.call(Helper::MapLookup);
}

/// Reads the word at the address in `R9` plus an offset, which is in this member of the entry in `R7`. `R0 =
/// 0` if the word could be read.
fn read_word(a: &mut Asm, member: i16) {
    a.load(Width::Double, R3, R7, member);
    a.alu(Alu::Add, R3, R9);
    a.mov(R1, R10).alu_imm(Alu::Add, R1, i32::from(WORD_SLOT));
    a.mov_imm(R2, 8).call(Helper::ProbeReadUser);
}
