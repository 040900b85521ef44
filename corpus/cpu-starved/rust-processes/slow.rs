use std::process::{Command, Stdio};

fn main() {
    let all: Vec<_> = (0..20)
        .map(|n| Command::new("awk").arg(format!("BEGIN {{ for (i = 0; i < 900000; i++) s += i % {}; print s }}", n + 2)).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut one in all {
        one.wait().unwrap();
    }
    println!("done");
}
