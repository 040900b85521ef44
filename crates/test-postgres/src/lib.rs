//! A private PostgreSQL server for tests: on loopback and a socket, in a temporary folder, removed at the
//! end, even after a panic or a kill. For tests only.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// Password of the user `fathom`.
pub const PASSWORD: &str = "s3cret-word";

/// A running server, which ends when this value is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    folder: tempfile::TempDir,
    /// Port on 127.0.0.1.
    pub port: u16,
    /// Whether the server has a certificate.
    pub tls: bool,
}

fn configure(data: &Path, folder: &Path, port: u16, tls: bool) {
    let mut settings = format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\nfsync = off\n",
        data.display()
    );
    if tls {
        let file = |name: &str| folder.join(name).display().to_string();
        let (certificate, key) = (file("server.crt"), file("server.key"));
        settings += &format!("ssl = on\nssl_cert_file = '{certificate}'\nssl_key_file = '{key}'\n");
    }
    let config = data.join("postgresql.conf");
    let mut config = std::fs::OpenOptions::new()
        .append(true)
        .open(config)
        .unwrap();
    config.write_all(settings.as_bytes()).unwrap();
}

fn wait_until_ready(stderr: ChildStderr) {
    let mut log = BufReader::new(stderr).lines();
    let mut said = String::new();
    loop {
        let line = log.next().unwrap_or_else(|| panic!("no server: {said}"));
        let line = line.unwrap();
        if line.contains("ready to accept connections") {
            break;
        }
        said += &line;
    }
    std::thread::spawn(move || log.for_each(drop)); // a full pipe would stop the server
}

impl Server {
    /// Starts a server; prints a message and returns `None` if PostgreSQL isn't installed.
    pub fn start() -> Option<Server> {
        let Some(bin) = bin() else {
            fathom_test_log::skipped("PostgreSQL is not installed (apt install postgresql)");
            return None;
        };
        let user = is_root().then(user_postgres);
        if user == Some(None) {
            fathom_test_log::skipped("PostgreSQL refuses root, and there is no user postgres");
            return None;
        }
        let user = user.flatten();
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let password = folder.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let mine = |path: &Path| {
            if let Some((user, group)) = user {
                chown(path, Some(user), Some(group)).unwrap();
            }
        };
        mine(&data);
        mine(&password);
        let as_user = |command: &mut Command| {
            command.current_dir(&data);
            if let Some((user, group)) = user {
                command.gid(group).uid(user);
            }
        };
        let mut initdb = Command::new(bin.join("initdb"));
        as_user(&mut initdb);
        let options = "-U fathom --auth-local=trust --auth-host=scram-sha-256 --no-sync -E UTF8";
        initdb.args(options.split(' '));
        let made = initdb
            .arg("--pwfile")
            .arg(&password)
            .arg("-D")
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let tls = certificates(folder.path());
        for file in ["server.crt", "server.key"].map(|name| folder.path().join(name)) {
            if tls {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
                mine(&file);
            }
        }

        let port = fathom_measure::server::free_port().unwrap();
        configure(&data, folder.path(), port, tls);

        // The shell ends the server when its standard input ends, which happens no matter how this process
        // dies.
        let mut shell = Command::new("sh");
        as_user(&mut shell);
        shell.args([
            "-c",
            r#""$0" -D "$1" </dev/null & read _; kill -QUIT $!; wait $!"#,
        ]);
        shell.arg(bin.join("postgres")).arg(&data);
        let mut child = shell
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until_ready(child.stderr.take().unwrap());
        Some(Server {
            child,
            folder,
            port,
            tls,
        })
    }

    /// Returns the folder that contains the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the path of the certificate of the authority that signed the server's certificate.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.crt")
    }

    /// Returns the address of the store over TCP, with the password and this query string.
    pub fn address(&self, query: &str) -> String {
        let port = self.port;
        format!("postgres://fathom:{PASSWORD}@127.0.0.1:{port}/postgres?{query}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Returns the folder of PostgreSQL's programs. Debian installs them outside `PATH`; the newest version sorts
/// last.
fn bin() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").map_or(Vec::new(), |folders| {
            folders
                .flatten()
                .map(|folder| folder.path().join("bin"))
                .collect()
        });
    debian.sort();
    let mut all = debian.into_iter().rev().chain(std::env::split_paths(&path));
    all.find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// Returns whether this process runs as root.
pub fn is_root() -> bool {
    // SAFETY: geteuid only returns this process's user id and can't fail.
    unsafe { libc::geteuid() == 0 }
}

fn user_postgres() -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut fields = users
        .lines()
        .find(|line| line.starts_with("postgres:"))?
        .split(':')
        .skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Creates an authority and a certificate for `localhost`; returns false if openssl isn't installed.
fn certificates(folder: &Path) -> bool {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
        -keyout authority.key -out authority.crt &&
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
        -keyout server.key -out server.csr &&
        printf 'subjectAltName=DNS:localhost' > names &&
        openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
        -extfile names -out server.crt";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .output();
    made.is_ok_and(|made| made.status.success())
}
