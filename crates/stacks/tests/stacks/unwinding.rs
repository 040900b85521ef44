//! Is the chain of callers that of the source?

use fathom_stacks::Reach;

use crate::stopped::{COPY, Program, Stopped};

/// Calls itself `depth` times, in turn through two functions, and stops.
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
