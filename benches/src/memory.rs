//! Measures whether the reported peak memory is the program's own.

use crate::Result;
use crate::options::Options;
use crate::table::{Table, mib, ratio, result};
use crate::tools::{Tools, median};

const RUNS: usize = 3000;
/// Required limit in MiB for a program of 0.7 MiB.
const ASKED: f64 = 1.4;

/// Measures the peak memory of a small static program in the first run and in the last.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let own = own_account(tools)?;
    let runs = options.scaled(RUNS);
    let count = runs.to_string();
    let flags = ["-w", "0", "-r", &count];
    let commands = [tools.tiny_command()];
    let fathom = tools.fathom_json(&flags, &commands)?;
    let hyperfine = tools.hyperfine(&flags, &commands)?;
    let last = format!("run {runs}");
    let headers = [
        "peak memory of a small program",
        "run 1",
        &last,
        "largest",
        "largest / its own",
        "asked",
        "result",
    ];
    let mut table = Table::new("Memory: whose peak is reported", &headers);
    table.row([
        "the program's own VmHWM".to_string(),
        mib(own),
        String::new(),
        mib(own),
        ratio(1.0),
    ]);
    let mut waited = Vec::new();
    for _ in 0..5 {
        waited.push(tools.run::<&str>(&tools.tiny, &[])?.peak_bytes);
    }
    let waited = median(&waited);
    table.row([
        "C: fork, execve, wait4 from a small static program".to_string(),
        mib(waited),
        String::new(),
        mib(waited),
        ratio(waited / own),
    ]);
    for (name, measured) in [("Fathom", Some(fathom)), ("hyperfine 2", hyperfine)] {
        let Some(measured) = measured else {
            table.row([name.to_string(), "not found".to_string()]);
            continue;
        };
        let peaks = &measured.commands[0].peak_bytes;
        let largest = peaks.iter().copied().fold(0.0, f64::max);
        let ends = [peaks.first(), peaks.last()].map(|end| mib(end.copied().unwrap_or(f64::NAN)));
        let mut row = vec![name.to_string()];
        row.extend(ends);
        row.extend([mib(largest), ratio(largest / own)]);
        if name == "Fathom" {
            row.extend([
                format!("at most {ASKED} MiB on every run"),
                result(largest <= ASKED * f64::from(1 << 20)),
            ]);
        }
        table.row(row);
    }
    table.note("The program's own account is the median of five runs outside of any tool; the C program's is the median of five, too. wait4's number may be the smaller one: the kernel leaves out page counts that a CPU has not handed in yet.");
    Ok(table)
}

/// Returns the memory that `tiny` reports for itself, in bytes.
fn own_account(tools: &Tools) -> Result<f64> {
    let mut values = Vec::new();
    for _ in 0..5 {
        let output = std::process::Command::new(&tools.tiny)
            .output()
            .map_err(|e| format!("can't start {}: {e}", tools.tiny.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let kib: f64 = text
            .split_ascii_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("{} printed {text:?}", tools.tiny.display()))?;
        values.push(kib * 1024.0);
    }
    Ok(median(&values))
}
