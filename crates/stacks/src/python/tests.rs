//! Tests with an interpreter's memory as laid out by its headers, and with invalid memory.

use super::{Code, FRAME_BYTES, Frames, Interpreter, Layout, Memory, Step, Unsupported};
use fathom_test_memory::survives;

/// A piece of memory.
#[derive(Clone, Debug)]
struct Image {
    from: u64,
    bytes: Vec<u8>,
}

impl Memory for Image {
    fn read(&self, address: u64, to: &mut [u8]) -> Option<()> {
        let at = usize::try_from(address.checked_sub(self.from)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(to.len())?)?;
        to.copy_from_slice(bytes);
        Some(())
    }
}

const FROM: u64 = 0x10_0000;
const INTERPRETER: u64 = FROM + 0x1000;
const THREAD: u64 = FROM + 0x2000;
const CFRAME: u64 = FROM + 0x3000;
const FRAME: u64 = FROM + 0x4000;
const CODE: u64 = FROM + 0x5000;
const STRINGS: u64 = FROM + 0x7000;
const TABLE: u64 = FROM + 0x9000;
const TYPE: u64 = 0xc0de;

impl Image {
    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.bytes[(at - FROM) as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn put_word(&mut self, at: u64, word: u64) {
        self.put(at, &word.to_ne_bytes());
    }

    fn string(&mut self, layout: &Layout, at: u64, text: &str) {
        let is_ascii = u64::from(text.is_ascii());
        self.put_word(at + 16, text.chars().count() as u64);
        let size: u64 = if text.is_ascii() { 1 } else { 2 };
        self.put_word(at + 32, size << 2 | 1 << 5 | is_ascii << 6);
        let begin = if text.is_ascii() {
            layout.ascii
        } else {
            layout.other
        };
        for (number, character) in (0..).zip(text.chars()) {
            let bytes = (character as u32).to_le_bytes();
            self.put(at + begin + number * size, &bytes[..size as usize]);
        }
    }

    /// Builds two functions that call each other, in the given layout. The outer one is called from C.
    fn of(layout: &Layout) -> Self {
        let mut image = Self {
            from: FROM,
            bytes: vec![0; 0xa000],
        };
        image.put_word(FROM + layout.interpreters, INTERPRETER);
        image.put_word(INTERPRETER + layout.threads, THREAD);
        image.put_word(THREAD + layout.native_thread, 4711);
        match layout.through {
            Some(at) => {
                image.put_word(THREAD + layout.frame, CFRAME);
                image.put_word(CFRAME + at, FRAME);
            }
            None => image.put_word(THREAD + layout.frame, FRAME),
        }
        for (number, name) in (0..).zip(["Réader.read", "main"]) {
            let (frame, code) = (FRAME + 0x100 * number, CODE + 0x800 * number);
            image.put_word(frame + layout.code, code);
            image.put_word(frame + layout.instruction, code + layout.instructions + 2);
            if number == 0 {
                image.put_word(frame + layout.previous, FRAME + 0x100);
            } else if let Some(at) = layout.is_entry {
                image.put(frame + at, &[1]);
            }
            let string = STRINGS + 0x400 * number;
            image.put_word(code + 8, TYPE);
            image.put_word(code + 16, 9);
            image.put_word(code + layout.file, string + 0x200);
            image.put_word(code + layout.name, string);
            image.put_word(code + layout.lines, TABLE);
            image.put(code + layout.first_line, &7i32.to_le_bytes());
            image.string(layout, string, name);
            image.string(layout, string + 0x200, "/home/a.py");
        }
        // One instruction on the first line, eight on the next.
        image.put_word(TABLE + 16, 5);
        image.put(TABLE + 32, &[0x80, 0x00, 0xdf, 0x00, 0x00]);
        image
    }
}

fn layouts() -> [Layout; 2] {
    [0x030b_02f0, 0x030c_01f0].map(|version| Layout::of(version, &[]).expect("is known"))
}

fn interpreter(layout: Layout) -> Interpreter {
    Interpreter {
        layout,
        runtime: FROM,
        code_type: TYPE,
    }
}

#[test]
fn threads_frames_and_code_are_found_where_the_version_has_them() {
    for layout in layouts() {
        let (image, python) = (Image::of(&layout), interpreter(layout));
        assert_eq!(python.threads(&image), [(4711, THREAD)]);
        let frames = python.frames(&image, THREAD).expect("nothing changes");
        assert!(frames.is_whole);
        let codes = frames.steps.iter().filter_map(|step| match step {
            Step::Frame { code, instruction } => {
                let object = python.code(&image, *code, None).expect("is one");
                let line = object.line(*instruction);
                let Code { function, file } = &*object.code;
                Some((function.clone(), file.clone(), line))
            }
            Step::Evaluator => None,
        });
        let file = "/home/a.py".to_owned();
        let expected = [
            ("Réader.read".to_owned(), file.clone(), Some(8)),
            ("main".to_owned(), file, Some(8)),
        ];
        assert_eq!(codes.collect::<Vec<_>>(), expected);
        if layout.is_entry.is_some() {
            assert_eq!(frames.steps.last(), Some(&Step::Evaluator));
        }
    }
}

#[test]
fn a_frame_of_the_evaluators_own_is_the_begin_of_a_call() {
    let layout = layouts()[1];
    let mut copies = [0; 2 * FRAME_BYTES];
    copies[..8].copy_from_slice(&CODE.to_ne_bytes());
    copies[FRAME_BYTES + layout.owner as usize] = 3;
    let frames = Frames::of(&layout, &copies, true);
    let frame = Step::Frame {
        code: CODE,
        instruction: 0,
    };
    assert_eq!(frames.steps, [frame, Step::Evaluator]);
}

#[test]
fn an_instruction_of_another_code_object_has_no_line() {
    let layout = layouts()[0];
    let python = interpreter(layout);
    let object = python
        .code(&Image::of(&layout), CODE, None)
        .expect("is one");
    let begin = CODE + layout.instructions;
    assert_eq!(object.line(begin - 2), Some(7));
    assert_eq!(object.line(begin + 16), Some(8));
    for other in [begin - 4, begin + 18, 0, u64::MAX] {
        assert_eq!(object.line(other), None);
    }
}

#[test]
fn other_versions_are_refused() {
    let version = |version, table: &[u8]| Layout::of(version, table).map(drop);
    assert_eq!(version(0x030a_0df0, &[]), Err(Unsupported::Version(3, 10)));
    assert_eq!(version(0x030f_00a0, &[]), Err(Unsupported::Version(3, 15)));
    assert_eq!(version(0x030d_00f0, &[]), Err(Unsupported::Version(3, 13)));
    let mut table = b"xdebugpy".to_vec();
    table.resize(700, 0);
    table[16] = 1;
    assert_eq!(version(0x030d_00f0, &table), Err(Unsupported::FreeThreaded));
}

#[test]
fn no_memory_makes_it_panic_or_go_round_in_circles() {
    for layout in layouts() {
        let python = interpreter(layout);
        let image = Image::of(&layout);
        survives(&[image.bytes], 1 << 24, |bytes| {
            let image = Image {
                from: FROM,
                bytes: bytes.to_vec(),
            };
            for (_, thread) in python.threads(&image).into_iter().take(8) {
                let Some(frames) = python.frames(&image, thread) else {
                    continue;
                };
                for step in frames.steps {
                    if let Step::Frame { code, instruction } = step
                        && let Some(object) = python.code(&image, code, None)
                    {
                        _ = object.line(instruction);
                    }
                }
            }
        });
    }
    // A frame that calls itself.
    let layout = layouts()[1];
    let mut image = Image::of(&layout);
    image.put_word(FRAME + layout.previous, FRAME);
    let frames = interpreter(layout).frames(&image, THREAD).expect("read");
    assert!(!frames.is_whole && frames.steps.len() == super::MOST_FRAMES);
}
