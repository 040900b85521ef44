//! Measures whether `fathom serve` is as fast as wrk, sees a stall, and has the right timestamps.

mod rivals;
mod schedule;
mod stamps;
mod standstill;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fathom_measure::server::free_port;
use fathom_model::{LoadResult, ServeRecord};

use crate::Result;
use crate::compile::compile;
use crate::options::Options;
use crate::table::Table;
use crate::tools::Tools;

/// Number of rounds in which the tools alternate; each result is a median over the rounds.
const ROUNDS: u32 = 15;
const LITTLE_WITHIN: f64 = 0.02;

/// Measures Fathom against wrk, with a server that stalls, the punctuality and number of connections, and the
/// timestamps of the start.
///
/// # Errors
/// If the server can't be built or a tool fails.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let folder = tools.scratch_folder();
    let program = compile("subjects/http.c", &["-pthread"], folder)?;
    Ok(vec![
        rivals::measure(tools, options, &program)?,
        standstill::measure(tools, options, &program)?,
        schedule::measure(tools, options, &program)?,
        stamps::measure(tools, options, &program)?,
    ])
}

/// A server that is ended when this value is dropped.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(program: &Path, kind: &str, cpu: Option<&str>) -> Result<Running> {
        let port = free_port().map_err(|error| format!("no free port: {error}"))?;
        let mut command = match cpu {
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cpu]).arg(program);
                command
            }
            None => Command::new(program),
        };
        let child = command
            .args([&port.to_string(), kind])
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start {}: {error}", program.display()))?;
        let running = Running {
            child,
            url: format!("http://127.0.0.1:{port}/"),
        };
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(running);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("{} doesn't listen", program.display()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the report of `fathom serve`. Numbers that it reports as untrusted aren't an error here.
fn serve(tools: &Tools, options: &[&str]) -> Result<ServeRecord> {
    let file = tools.scratch_folder().join("serve.json");
    let output = Command::new(&tools.fathom)
        .args(["serve", "--json"])
        .arg(&file)
        .args(options)
        .env("XDG_CACHE_HOME", tools.scratch_folder().join("cache"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    if !matches!(output.status.code(), Some(0 | 4)) {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("fathom serve failed: {errors}"));
    }
    let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))
}

fn load(record: &ServeRecord) -> Result<&LoadResult> {
    let server = record.servers.first().ok_or("no server")?;
    server.load.first().ok_or_else(|| "no load".to_string())
}

/// Returns a file of the kernel's tracing, if this user may use it.
fn tracing() -> Option<PathBuf> {
    let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let found = folders
        .iter()
        .map(Path::new)
        .find(|folder| folder.join("instances").is_dir());
    found.map(Path::to_path_buf)
}
