//! Measures the maximum memory that a thread holds during an operation, as counted by the allocator, and
//! checks that mutated input doesn't make parsers exceed a limit.
//!
//! A program has only one allocator, so each test binary that uses this crate declares `#[global_allocator]
//! static ALLOCATOR: Counting = Counting;`.

mod mutations;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub use mutations::survives;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which also counts the bytes that each thread holds.
#[derive(Debug)]
pub struct Counting;

fn change(bytes: isize) {
    // An exiting thread no longer has its counter, and nothing reads it any more.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(live.get())));
    });
}

// SAFETY: the system's allocator does everything; its results and arguments are passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        change(-(layout.size() as isize));
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(size as isize - layout.size() as isize);
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Returns the maximum number of bytes that this thread held during `work`, in addition to those that it held
/// before.
pub fn most_in(work: impl FnOnce()) -> isize {
    let before = LIVE.get();
    MOST.set(before);
    work();
    MOST.get() - before
}
