//! A Perfetto trace: one track for each tree, on which callers are above their callees.
//!
//! The protobuf is written by hand, since it has only seven fields: a message is a list of (field number,
//! kind, value). Format: `protos/perfetto/trace/trace_packet.proto` and `track_event/track_event.proto`.

use fathom_model::{CodePaths, Explanation};

use super::{name, title};

/// The field `Trace.packet`.
const PACKET: u32 = 1;
/// Fields of `TracePacket`: its time, its sequence, an event on a track, the description of a track.
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const TRACK_DESCRIPTOR: u32 = 60;
/// Fields of `TrackDescriptor`.
const UUID: u32 = 1;
const NAME: u32 = 2;
/// Fields of `TrackEvent`.
const KIND: u32 = 9;
const TRACK: u32 = 11;
const EVENT_NAME: u32 = 23;
const BEGIN: u64 = 1;
const END: u64 = 2;

#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }
}

pub(super) fn write(explanation: &Explanation) -> Vec<u8> {
    let mut trace = Message::default();
    for (number, tree) in explanation.paths.iter().enumerate() {
        let track = number as u64 + 1;
        let descriptor = Message::default()
            .number(UUID, track)
            .bytes(NAME, title(tree.of).as_bytes());
        let packet = Message::default().bytes(TRACK_DESCRIPTOR, &descriptor.0);
        trace = trace.bytes(PACKET, &packet.0);
        for (at, name) in events(tree) {
            let event = Message::default()
                .number(KIND, if name.is_some() { BEGIN } else { END })
                .number(TRACK, track);
            let event = match name {
                Some(name) => event.bytes(EVENT_NAME, name.as_bytes()),
                None => event,
            };
            let packet = Message::default()
                .number(TIMESTAMP, at)
                .number(SEQUENCE, track)
                .bytes(TRACK_EVENT, &event.0);
            trace = trace.bytes(PACKET, &packet.0);
        }
    }
    trace.0
}

/// Returns the beginnings of steps, with their names, and the ends of steps, in order of time.
fn events(tree: &CodePaths) -> Vec<(u64, Option<String>)> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); tree.steps.len()];
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut at = 0;
    for (number, step) in tree.steps.iter().enumerate() {
        match step
            .parent
            .map(|parent| parent as usize)
            .filter(|parent| *parent < number)
        {
            Some(parent) => below[parent].push(number),
            None => {
                open.push((number, at));
                at += step.ns;
            }
        }
    }
    open.reverse();
    // A step that ends when another begins must end first, so each end is emitted as soon as its time has
    // come.
    let mut events = Vec::new();
    let mut ends: Vec<u64> = Vec::new();
    while let Some((number, from)) = open.pop() {
        while let Some(end) = ends.last().copied().filter(|end| *end <= from) {
            events.push((end, None));
            ends.pop();
        }
        let step = &tree.steps[number];
        let to = from.saturating_add(step.ns);
        let to = ends.last().map_or(to, |end| to.min(*end));
        events.push((from, Some(name(step))));
        ends.push(to);
        let mut at = from;
        let callees = below[number].iter().map(|callee| {
            let begin = at.min(to);
            at += tree.steps[*callee].ns;
            (*callee, begin)
        });
        let callees: Vec<(usize, u64)> = callees.collect();
        open.extend(callees.into_iter().rev());
    }
    events.extend(ends.into_iter().rev().map(|end| (end, None)));
    events
}
