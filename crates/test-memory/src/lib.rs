//! How much memory a thread has at most while it does something, counted by the allocator; and parsers'
//! input with changed bytes, which costs them no more than a limit.
//!
//! An allocator is of a whole program: each test binary that asks has
//! `#[global_allocator] static ALLOCATOR: Counting = Counting;`.

mod mutations;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub use mutations::survives;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes that each thread has.
#[derive(Debug)]
pub struct Counting;

fn change(bytes: isize) {
    // A thread that ends has no such place any more; nobody asks what it had.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(live.get())));
    });
}

// SAFETY: the system's allocator does all; its results and arguments are passed on as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        change(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The most bytes that this thread had at a time while it did something, beyond what it had before.
pub fn most_in(work: impl FnOnce()) -> isize {
    let before = LIVE.get();
    MOST.set(before);
    work();
    MOST.get() - before
}
