//! A headless Chromium, driven by the DevTools protocol over a pipe: messages end with a zero byte, so
//! that no socket, no WebSocket and no crate is needed (`headless_chrome` would bring 60 of them).

#![allow(
    dead_code,
    reason = "the example takes pictures and presses no keys, the test the other way round"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Names of the program, the most usual first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Longer than anything takes: only a browser that has died is met by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page. It ends with this value.
pub(crate) struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// What the page did that no page of Fathom's may do: errors, and requests for anything.
    pub(crate) complaints: Vec<String>,
    folder: PathBuf,
}

/// Where a browser is; `None` if none is installed.
pub(crate) fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

impl Chromium {
    /// Starts `program`; what it writes goes into `folder`.
    pub(crate) fn start(program: &Path, folder: &Path) -> Chromium {
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut child = Command::new("/bin/sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            ])
            .arg(program)
            .args([
                "--headless",
                "--remote-debugging-pipe",
                // Root may not use the sandbox; the pages are our own.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--no-first-run",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while output.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).expect("a message is JSON");
                bytes.clear();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Chromium {
            child,
            input,
            messages,
            last: 0,
            session: None,
            complaints: Vec::new(),
            folder: folder.to_path_buf(),
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let targets = targets["targetInfos"].as_array().expect("a list");
        let page = targets.iter().find(|target| target["type"] == "page");
        let id = page.expect("it opened a page")["targetId"].clone();
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": id, "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        // A page that nobody looks at gets no events of focus.
        let on = json!({ "enabled": true });
        browser.call("Emulation.setFocusEmulationEnabled", on);
        browser
    }

    /// Sends a command and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).expect("it has a JSON form");
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser reads");
        loop {
            let answer = self.next();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self) -> Value {
        let message = self
            .messages
            .recv_timeout(PATIENCE)
            .expect("the browser answers");
        let about = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(about["exceptionDetails"].to_string());
            }
            Some("Runtime.consoleAPICalled") => self.complaints.push(about["args"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(about["entry"].to_string()),
            Some("Network.requestWillBeSent") if about["type"] != "Document" => {
                self.complaints.push(about["request"]["url"].to_string());
            }
            _ => {}
        }
        message
    }

    /// Opens a page and waits until it has loaded.
    pub(crate) fn open(&mut self, name: &str, page: &str) {
        let path = self.folder.join(format!("{name}.html"));
        std::fs::write(&path, page).expect("the page is written");
        self.call(
            "Page.navigate",
            json!({ "url": format!("file://{}", path.display()) }),
        );
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// Makes the window so wide, light or dark, and waits until that is drawn.
    pub(crate) fn show(&mut self, width: u32, dark: bool) {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    }

    /// What an expression of the page is.
    pub(crate) fn run(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Presses a key that writes no letter.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let parameters =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// The whole page as PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let parameters = json!({ "captureBeyondViewport": true, "format": "png" });
        let layout = self.call("Page.getLayoutMetrics", json!({}));
        let size = &layout["cssContentSize"];
        let mut parameters = parameters;
        parameters["clip"] = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1
        });
        let answer = self.call("Page.captureScreenshot", parameters);
        from_base64(answer["data"].as_str().expect("a picture"))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends itself when nobody holds its pipe; killing it makes that certain.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [0u8; 128];
    for (value, digit) in digits.bytes().enumerate() {
        values[usize::from(digit)] = value as u8;
    }
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for digit in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(values[usize::from(digit & 127)]);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}
