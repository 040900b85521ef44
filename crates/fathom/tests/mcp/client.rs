//! A client that exchanges one message per line.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: Lines<BufReader<ChildStdout>>,
    last: u64,
    /// The server's descriptions of its tools.
    tools: Vec<Value>,
    /// Unsolicited messages received: progress.
    pub told: Vec<Value>,
}

/// The response of a tool.
#[derive(Debug)]
pub(crate) struct Said {
    pub text: String,
    pub structured: Value,
    pub is_error: bool,
}

impl Client {
    /// Starts a server with this folder as its root and negotiates the protocol.
    pub(crate) fn new(root: &Path, allow: &[&str]) -> Client {
        Self::of(Command::new(env!("CARGO_BIN_EXE_fathom")), root, allow)
    }

    /// Like [`Client::new`], but with a server started by `command`.
    pub(crate) fn of(mut command: Command, root: &Path, allow: &[&str]) -> Client {
        command.arg("mcp").arg("--root").arg(root);
        for allowed in allow {
            command.args(["--allow", allowed]);
        }
        let mut child = command
            .env("XDG_DATA_HOME", root.join("data"))
            .env("XDG_CACHE_HOME", root.join("cache"))
            .env_remove("FATHOM_STORE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Client {
            to: child.stdin.take(),
            from: from.lines(),
            child,
            last: 0,
            tools: Vec::new(),
            told: Vec::new(),
        };
        let hello = client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "fathom", "{hello}");
        client.tell("notifications/initialized", &json!({}));
        let listed = client.ask("tools/list", &json!({}));
        client.tools = listed["result"]["tools"].as_array().expect("tools").clone();
        client
    }

    pub(crate) fn tools(&self) -> &[Value] {
        &self.tools
    }

    fn write(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("the client is there");
        writeln!(to, "{message}").expect("the server reads");
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its number.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let last = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": last, "method": method, "params": params}));
        last
    }

    /// Returns the response to a request. Fails on anything that is not a message.
    pub(crate) fn answer(&mut self, to: u64) -> Value {
        loop {
            let line = self.from.next().expect("an answer").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("only messages are written");
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == to {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let number = self.send(method, params);
        self.answer(number)
    }

    /// Calls a tool and checks the response against its limits and its schema.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Said {
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {"progressToken": "p"}
        });
        let answer = self.ask("tools/call", &params);
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.len() <= 2_048, "{} bytes: {text}", text.len());
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
        let said = Said {
            text: text.to_owned(),
            structured: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
        };
        if !said.is_error {
            let described = self.tools.iter().find(|one| one["name"] == tool);
            let schema = &described.expect("it is listed")["outputSchema"];
            let validator = jsonschema::validator_for(schema).expect("a schema");
            let wrong: Vec<String> = validator
                .iter_errors(&said.structured)
                .map(|error| error.to_string())
                .collect();
            assert!(wrong.is_empty(), "{tool}: {wrong:?}: {}", said.structured);
            let size = said.structured.to_string().len();
            assert!(size <= 64 << 10, "{size} bytes");
            assert!(
                text.starts_with(said.structured["answer"].as_str().unwrap_or("?")),
                "{text}"
            );
        }
        said
    }

    /// Kills the server immediately.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Disconnects and waits for the server to exit.
    pub(crate) fn leave(mut self) -> ExitStatus {
        drop(self.to.take());
        self.child.wait().expect("it ends")
    }
}

/// Writes a script into the folder.
pub(crate) fn script(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    // Another process writes the script, so this process never has it open for writing while a concurrent
    // test forks.
    let written = Command::new("sh")
        .args(["-c", "printf '%s' \"$2\" > \"$1\"", "sh"])
        .arg(&path)
        .arg(text)
        .status();
    assert!(written.expect("sh runs").success());
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, executable).expect("made executable");
}
