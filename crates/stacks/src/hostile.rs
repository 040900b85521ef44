//! Tests with malicious content in files and on stacks.

use std::path::Path;
use std::process::Command;

use crate::cfi::Tables;
use crate::debug_files::Opened;
use crate::dwarf::Costs;
use crate::image::{Bytes, Image, Segments};
use crate::registers::Registers;
use crate::symbols::{Detail, Names};
use crate::{Files, Mapping, Reach, Unwinder};
use fathom_test_memory::survives;

/// The maximum number of bytes that may be allocated at once.
const MOST_BYTES: usize = 16 << 20;

/// Compiles a small program with everything in it; `None` without a compiler.
fn program(options: &[&str]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "static inline int two(int a) { return a * 2; }\n\
                  int one(int a) { return two(a) + 1; }\n\
                  int main(int count, char **all) { return one(count) + all[0][0]; }\n";
    std::fs::write(folder.path().join("small.c"), source).expect("written");
    let made = Command::new("gcc")
        .args(["-O1", "-o", "small", "small.c"])
        .args(options)
        .current_dir(folder.path())
        .output();
    let Ok(made) = made else {
        fathom_test_log::skipped("there is no gcc");
        return None;
    };
    assert!(made.status.success(), "{made:?}");
    Some(std::fs::read(folder.path().join("small")).expect("made"))
}

/// Reads everything that can be read from a file.
fn read(bytes: &[u8]) {
    let Ok(parsed) = object::File::parse(bytes) else {
        return;
    };
    let segments = Segments::of(&parsed);
    let entry = object::Object::entry(&parsed);
    let (entry, _) = segments.offset(entry).unwrap_or((0x1000, 0));
    let near = [0x100, 0x110, 0x119, 0x11d, 0x130].map(|at| entry.wrapping_add(at));
    let mut offsets: Vec<u64> = near.into_iter().chain([0, 0x1020, u64::MAX]).collect();
    offsets.sort_unstable();
    let (opened, costs) = (Opened::new(), Costs::default());
    let path = Path::new("/nowhere/small");
    if let Some(names) = Names::of(bytes, path, &offsets, Detail::Lines, &opened, &costs) {
        for offset in &offsets {
            _ = names.at(*offset);
        }
    }
    let Some(tables) = Image::of(bytes).map(Tables::of) else {
        return;
    };
    let mut context = gimli::UnwindContext::default();
    let registers = Registers::new(0x1000, 0x7000, 0x7100);
    for address in offsets.iter().filter_map(|at| segments.address(*at)) {
        if let Some(rule) = tables.rule(&mut context, address) {
            _ = tables.caller(&rule, &registers, &|address| Some(address ^ 0x55));
        }
    }
}

#[test]
fn no_program_makes_it_panic() {
    let vdso = Bytes::of_vdso().expect("every process has one").to_vec();
    let mut inputs = vec![vdso];
    inputs.extend(program(&["-g"]));
    inputs.extend(program(&[
        "-g",
        "-gdwarf-4",
        "-gz",
        "-nostdlib",
        "-Wl,-e,one",
    ]));
    inputs.extend(program(&[
        "-g",
        "-fno-asynchronous-unwind-tables",
        "-static-pie",
    ]));
    inputs.retain(|input| input.len() < 100_000);
    survives(&inputs, MOST_BYTES, read);
}

#[test]
fn no_stack_makes_it_panic_or_turn_in_circles() {
    let own = std::env::current_exe().expect("this program");
    let inode = std::os::unix::fs::MetadataExt::ino(&own.metadata().expect("it is there"));
    let mut files = Files::default();
    let file = files.number(own.to_str().expect("text"), inode, 1);
    let made = files.number("//anon", 0, 1);
    let mapping = |from, length, file| Mapping {
        from,
        length,
        offset: 0,
        file,
    };
    let space = [
        mapping(0x40_0000, 64 << 20, file),
        mapping(0x1000, u64::MAX, made),
        mapping(u64::MAX - 10, u64::MAX, file),
        mapping(0x40_0000, 0, file),
    ];
    let unwinder = std::cell::RefCell::new(Unwinder::default());
    // A cycle of frame pointers, a frame that leads to itself, and words that point anywhere.
    let mut words = vec![0x8010u64, 0x2000, 0x8000, 0x2000, 0x8020, 0x2000];
    words.extend((0..200).map(|at| 0x40_0000 + at * 0x1357));
    let stack: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    survives(&[stack], 1 << 20, |stack| {
        for (address, pointer, frame) in [
            (0x2000, 0x8000, 0x8000),
            (0x2000, 0x8000, 0x8020),
            (0x50_0000, 0x8000, 0x8008),
            (0x50_1234, 0x7fff, 0),
            (0x2000, 0, u64::MAX),
            (0x2000, u64::MAX, u64::MAX - 8),
            (u64::MAX, u64::MAX - 8, u64::MAX - 16),
        ] {
            let registers = Registers::new(address, pointer, frame);
            let mut unwinder = unwinder.borrow_mut();
            let chain = unwinder.unwind(&files, &space, &registers, 0x8000, stack);
            assert!(chain.places.len() <= stack.len() / 8 + 2);
        }
    });
}

#[test]
fn a_stack_pointer_outside_of_the_copy_is_known_to_be() {
    let mut files = Files::default();
    let made = files.number("//anon", 0, 1);
    let space = [Mapping {
        from: 0x1000,
        length: 0x1000,
        offset: 0,
        file: made,
    }];
    let chain = |pointer: u64, frame: u64| {
        let registers = Registers::new(0x1234, pointer, frame);
        Unwinder::default().unwind(&files, &space, &registers, 0x8000, &[0; 64])
    };
    assert_eq!(chain(0x8000, 0x8100).reach, Reach::CutOff);
    assert_eq!(chain(0x8000, 0x7000).reach, Reach::Broken);
    assert_eq!(chain(0x10, 0x20).reach, Reach::Broken);
    assert_eq!(chain(0x8000, 0x8010).reach, Reach::Root);
    assert_eq!(chain(0x8000, 0x8100).places.len(), 1);
}
