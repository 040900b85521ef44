//! Slurm itself, started by `scripts/slurm-here.sh`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{World, of_sources};

/// A cluster of two nodes on this machine, which is stopped when this value is dropped.
struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    /// Starts the cluster; `None` if Slurm isn't available.
    fn up(folder: &Path) -> Option<Cluster> {
        let has = |program: &str| {
            let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
            folders
                .iter()
                .any(|folder| Path::new(folder).join(program).exists())
        };
        let why = match (
            std::fs::metadata("/proc/self"),
            ["slurmctld", "slurmd", "munged"],
        ) {
            (_, programs) if !programs.into_iter().all(has) => "Slurm and munge are not installed",
            (Ok(own), _) if std::os::unix::fs::MetadataExt::uid(&own) != 0 => {
                "Slurm needs root to start jobs"
            }
            _ => "",
        };
        if !why.is_empty() {
            fathom_test_log::skipped(why);
            return None;
        }
        let cluster = Cluster {
            folder: folder.to_owned(),
        };
        let up = || {
            let mut up = script();
            up.args(["up", "2"]).arg(folder);
            up.env("SLURM_PORT", three_free_ports().to_string());
            up.output().unwrap()
        };
        let mut last = up();
        for _ in 0..2 {
            if !last.status.success() {
                last = up();
            }
        }
        let said = String::from_utf8_lossy(&last.stderr);
        assert!(last.status.success(), "{said}");
        Some(cluster)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = script().arg("down").arg(&self.folder).status();
    }
}

/// Returns the first of three free ports in a row, for the controller and two nodes. They are below the range
/// from which the kernel assigns ports to other tests, so no test can take one before its node does.
fn three_free_ports() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let free =
        |port: &u16| (0..3).all(|more| TcpListener::bind(("127.0.0.1", port + more)).is_ok());
    (first..32_000).step_by(3).find(free).expect("free ports")
}

fn script() -> Command {
    Command::new(of_sources("scripts/slurm-here.sh"))
}

#[test]
fn a_job_of_slurm_that_was_ended_goes_on_and_is_saved_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::up(&folder.path().join("cluster")) else {
        return;
    };
    let conf = cluster.folder.join("slurm.conf");
    let world = World::of_slurm(conf.to_str().unwrap());
    world.twenty_runs(
        "echo run >> runs\n[ \"$(wc -l < runs)\" != 12 ] || scancel \"$SLURM_JOB_ID\"\n",
        "slurm",
    );
    let record = world.json("record.json");
    assert_eq!(record["runs"].as_array().unwrap().len(), 20);
    let job = &record["jobs"][0];
    assert_eq!(job["attempts"], 2);
    assert!(
        ["n1", "n2"].contains(&job["node"].as_str().unwrap()),
        "{job}"
    );
    assert_eq!(record, world.record(2));
    assert_eq!(world.saved("work"), 1);
}
