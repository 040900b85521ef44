//! Tests that the chain of callers matches the source.

use fathom_stacks::Reach;

use crate::stopped::{COPY, Program, Stopped};

/// Recurses `depth` times, alternating between two functions, and stops.
const DEEP: &str = r#"
#include <stdlib.h>
volatile int depth = 30;
int other(int left, char *text);
__attribute__((noinline)) void stop(void) { __asm__ volatile("int3"); }
__attribute__((noinline)) int one(int left) {
    volatile char text[100];
    text[0] = (char)left;
    if (left == 0) stop(); else return other(left - 1, (char *)text) + text[0];
    return 1;
}
__attribute__((noinline)) int other(int left, char *text) {
    char *more = __builtin_alloca(left * 16 + 16);
    more[0] = text[0];
    __asm__ volatile("" : : "r"(more) : "memory");
    int got = left == 0 ? (stop(), 1) : one(left - 1);
    return got + more[0];
}
int main(void) { return one(depth) + 1; }
"#;

fn deep_chain() -> Vec<&'static str> {
    let mut expected = vec!["stop"];
    expected.extend((0..31).map(|turn| ["one", "other"][turn % 2]));
    expected.push("main");
    expected
}

fn is_followed(options: &[&str]) {
    let mut command = vec!["gcc", "-o", "program"];
    command.extend(options);
    let Some(program) = Program::compiled(DEEP, "deep.c", &command) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, COPY);
    let chain = stopped.chain();
    let names = stopped.names(&chain);
    let expected = deep_chain();
    assert_eq!(names[..expected.len()], expected, "{options:?}");
    assert_eq!(chain.reach, Reach::Root, "{options:?}: {names:?}");
}

#[test]
fn callers_of_c_are_known_without_frame_pointers() {
    is_followed(&["-O2", "-fomit-frame-pointer"]);
    is_followed(&["-O2", "-fomit-frame-pointer", "-static"]);
    is_followed(&["-O2", "-fno-omit-frame-pointer", "-no-pie"]);
    is_followed(&["-O0", "-g"]);
}

/// A program with a rounded stack pointer, and with a signal handler on a separate stack.
const ODD: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
volatile int number = 3;
void handler(int signal) { (void)signal; __asm__ volatile("int3"); }
__attribute__((noinline)) int aligned(int count) {
    volatile char text[64] __attribute__((aligned(64)));
    char *more = __builtin_alloca(count * 16);
    memset(more, 0, count);
    text[0] = more[1];
    *(volatile int *)0 = 1;
    return text[0];
}
int main(void) {
    static char other[65536];
    stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK_IF };
    if (SA_ONSTACK_IF) sigaltstack(&stack, 0);
    sigaction(SIGSEGV, &action, 0);
    return aligned(number) + 1;
}
"#;

#[test]
fn what_a_signal_interrupted_is_known_and_who_called_that() {
    let command = [
        "gcc",
        "-O2",
        "-fomit-frame-pointer",
        "-DSA_ONSTACK_IF=0",
        "-o",
        "program",
    ];
    let Some(program) = Program::compiled(ODD, "odd.c", &command) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, COPY);
    let chain = stopped.chain();
    let names = stopped.names(&chain);
    assert_eq!(names[0], "handler");
    assert_eq!(names[2..4], ["aligned", "main"], "{names:?}");
    assert!(chain.places[1].returns && !chain.places[2].returns);
    assert_eq!(chain.reach, Reach::Root);
}

#[test]
fn a_handler_with_its_own_stack_ends_where_the_copy_does() {
    let command = ["gcc", "-O2", "-DSA_ONSTACK_IF=SA_ONSTACK", "-o", "program"];
    let Some(program) = Program::compiled(ODD, "odd.c", &command) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, COPY);
    let chain = stopped.chain();
    let names = stopped.names(&chain);
    assert_eq!(names[0], "handler");
    assert_ne!(chain.reach, Reach::Root, "{names:?}");
}

#[test]
fn a_copy_that_is_too_short_is_said_to_be() {
    let Some(program) = Program::compiled(DEEP, "deep.c", &["gcc", "-O2", "-o", "program"]) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, 2_000);
    let chain = stopped.chain();
    let names = stopped.names(&chain);
    assert_eq!(chain.reach, Reach::CutOff);
    assert!(names.len() > 5, "{names:?}");
    assert_eq!(names, deep_chain()[..names.len()]);
}

#[test]
fn where_a_copy_ends_the_kernels_frame_pointers_go_on() {
    let command = ["gcc", "-O2", "-fno-omit-frame-pointer", "-o", "program"];
    let Some(program) = Program::compiled(DEEP, "deep.c", &command) else {
        return;
    };
    let mut stopped = Stopped::at_breakpoint(&program.path, COPY);
    let callers = stopped.by_frame_pointers();
    let whole = stopped.chain();
    stopped.stack.truncate(2_000);
    let mut chain = stopped.chain();
    assert_eq!(chain.reach, Reach::CutOff);
    let mut unwinder = fathom_stacks::Unwinder::default();
    unwinder.splice(
        &stopped.files,
        &stopped.space,
        stopped.copied(),
        &mut chain,
        &callers,
    );
    let expected = deep_chain();
    assert_eq!(stopped.names(&chain)[..expected.len()], expected);
    assert_eq!(
        chain.places[..expected.len()],
        whole.places[..expected.len()]
    );
    // The callers of another stack don't belong to this one.
    let before = chain.places.len();
    chain.reach = Reach::CutOff;
    unwinder.splice(
        &stopped.files,
        &stopped.space,
        stopped.copied(),
        &mut chain,
        &callers[..3],
    );
    assert_eq!(chain.places.len(), before);
}

const RUST: &str = r#"
use std::hint::black_box;
struct Tree { children: Vec<Tree>, leaf: u32 }
impl Tree {
    #[inline(never)]
    fn sum(&self) -> u32 {
        let below: u32 = self.children.iter().map(Tree::sum).sum();
        if self.children.is_empty() { unsafe { std::arch::asm!("int3") } }
        black_box(below + self.leaf)
    }
}
fn make(depth: u32) -> Tree {
    let children = if depth == 0 { vec![] } else { vec![make(depth - 1)] };
    Tree { children, leaf: depth }
}
fn main() {
    let tree = make(black_box(20));
    std::process::exit(black_box(tree.sum()) as i32 + 1);
}
"#;

#[test]
fn callers_of_rust_are_known() {
    for options in [&["-O"][..], &["-O", "-g"], &["-Cforce-frame-pointers=yes"]] {
        let mut command = vec!["rustc", "--edition=2021", "-o", "program"];
        command.extend(options);
        let Some(program) = Program::compiled(RUST, "deep.rs", &command) else {
            return;
        };
        let stopped = Stopped::at_breakpoint(&program.path, COPY);
        let chain = stopped.chain();
        let names = stopped.names(&chain);
        let sums = names.iter().filter(|name| *name == "deep::Tree::sum");
        assert_eq!(sums.count(), 21, "{options:?}: {names:?}");
        assert!(names.iter().any(|name| name == "deep::main"), "{names:?}");
        assert_eq!(chain.reach, Reach::Root, "{options:?}: {names:?}");
    }
}

const CPP: &str = r#"
#include <functional>
#include <string>
#include <vector>
#include <algorithm>
namespace game {
struct Node { virtual int visit(int left) = 0; virtual ~Node() {} };
struct Leaf : Node { int visit(int) override { __asm__ volatile("int3"); return 1; } };
template <class T> struct Inner : Node {
    std::vector<T> below;
    int visit(int left) override {
        int sum = 0;
        std::for_each(below.begin(), below.end(), [&](T node) { sum += node->visit(left - 1); });
        return sum + 1;
    }
};
}
int main() {
    game::Leaf leaf;
    game::Node *node = &leaf;
    for (int i = 0; i < 10; i++) {
        auto *inner = new game::Inner<game::Node *>;
        inner->below.push_back(node);
        node = inner;
    }
    volatile int depth = 10;
    return node->visit(depth) + 1;
}
"#;

#[test]
fn callers_of_cpp_are_known() {
    for options in [
        &["-O2"][..],
        &["-O2", "-g"],
        &["-O0", "-g"],
        &["-O2", "-flto"],
    ] {
        let mut command = vec!["g++", "-o", "program"];
        command.extend(options);
        let Some(program) = Program::compiled(CPP, "deep.cpp", &command) else {
            return;
        };
        let stopped = Stopped::at_breakpoint(&program.path, COPY);
        let chain = stopped.chain();
        let names = stopped.names(&chain);
        assert_eq!(names[0], "game::Leaf::visit");
        let inner = names
            .iter()
            .filter(|it| *it == "game::Inner<game::Node*>::visit");
        assert_eq!(inner.count(), 10, "{options:?}: {names:?}");
        assert!(names.iter().any(|it| it == "main"), "{names:?}");
        assert_eq!(chain.reach, Reach::Root, "{options:?}: {names:?}");
    }
}

const GO: &str = r#"
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sort"
)

type byStop []int

func (b byStop) Len() int           { return len(b) }
func (b byStop) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b byStop) Less(i, j int) bool { stop(); return b[i] < b[j] }

//go:noinline
func stop() { runtime.Breakpoint() }

//go:noinline
func down(left int, text [20]byte) int {
	if left == 0 {
		sort.Sort(byStop{2, 1})
		return 1
	}
	text[left%20] = 1
	return down(left-1, text) + int(text[3])
}

func main() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	os.Exit(down(10, [20]byte{}))
}
"#;

#[test]
fn callers_of_go_are_known_with_and_without_symbols() {
    for flags in [
        &[][..],
        &["-ldflags=-s -w"],
        &["-ldflags=-w"],
        &["-buildmode=pie", "-ldflags=-s -w -linkmode=external"],
    ] {
        let mut command = vec!["go", "build", "-o", "program"];
        command.extend(flags);
        let Some(program) = Program::compiled(GO, "deep.go", &command) else {
            return;
        };
        let stopped = Stopped::at_breakpoint(&program.path, COPY);
        let chain = stopped.chain();
        let names = stopped.names(&chain);
        let downs = names.iter().filter(|name| *name == "main.down");
        assert_eq!(downs.count(), 11, "{flags:?}: {names:?}");
        assert!(names.iter().any(|name| name == "sort.Sort"), "{names:?}");
        assert!(names.iter().any(|name| name == "main.main"), "{names:?}");
        assert_eq!(names.last().map(String::as_str), Some("runtime.goexit"));
        assert_eq!(chain.reach, Reach::Root, "{flags:?}: {names:?}");
    }
}

/// Code generated at run time, with frame pointers: it calls `stop`.
const MADE: &str = r#"
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) void stop(void) { __asm__ volatile("int3"); }
int main(void) {
    unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0xb8,
        0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0xc9, 0xc3 };
    void (*to)(void) = stop;
    memcpy(code + 10, &to, 8);
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    ((void (*)(void))page)();
    return 1;
}
"#;

#[test]
fn code_that_was_made_at_run_time_is_followed_by_its_frame_pointers() {
    let Some(program) = Program::compiled(MADE, "made.c", &["gcc", "-O2", "-o", "program"]) else {
        return;
    };
    let stopped = Stopped::at_breakpoint(&program.path, COPY);
    let chain = stopped.chain();
    let names = stopped.names(&chain);
    assert_eq!(names[0], "stop");
    assert!(names[1].starts_with("//anon+"), "{names:?}");
    assert_eq!(names[2], "main");
    assert_eq!(chain.reach, Reach::Root);
}
