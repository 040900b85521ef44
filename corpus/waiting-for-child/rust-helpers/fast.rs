use std::process::{Command, Stdio};

fn helper(n: usize) -> Command {
    let mut command = Command::new("awk");
    command.arg(format!("BEGIN {{ for (i = 0; i < 3000000; i++) s += i % {n}; print s }}")).stdout(Stdio::piped());
    command
}

fn main() {
    let all: Vec<_> = (3..7).map(|n| helper(n).spawn().unwrap()).collect();
    for child in all {
        let done = child.wait_with_output().unwrap();
        print!("{}", String::from_utf8_lossy(&done.stdout));
    }
}
