//! A headless Chromium, controlled by the DevTools protocol over a pipe: messages end with a zero byte, so it
//! needs no socket, WebSocket or crate (`headless_chrome` would add 60 of them). Used for tests, screenshots,
//! and measuring how soon a page can be used.

pub mod hostile;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Names of the program, the most common first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Script that returns the visible defects of a page as a list of sentences.
const CHECKS: &str = include_str!("checks.js");
/// Script that returns the time in milliseconds from the request until the page can be used: the page has
/// been drawn, and no script is running.
const INTERACTIVE: &str = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    const drawn = performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime);
    done(Math.max(...drawn, performance.getEntriesByType('navigation')[0].loadEventEnd));
  })))";
/// Script that numbers the controls in their order and tracks the focus.
const MARK: &str = "
    window.order = [...document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]')]
      .filter((node) => node.checkVisibility() && !node.disabled);
    // Tab starts from the last position of the pointer or focus: reset it to the top.
    document.body.tabIndex = -1;
    document.body.focus({ preventScroll: true });
    document.body.removeAttribute('tabindex');
    window.scrollTo(0, 0);
    window.order.length";
/// Timeout of every operation. It is longer than any takes, so it only expires if the browser has died.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page. Dropping it ends the browser.
pub struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
    session: Option<String>,
    /// Errors reported by the page or by its requests. Fathom's pages must not cause any.
    pub complaints: Vec<String>,
    folder: PathBuf,
    /// Prefix of the addresses that the page may request: those of its own server.
    own: Option<String>,
}

/// Returns the path of an installed browser, or `None` if there isn't one.
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}

impl Chromium {
    /// Starts the installed browser. If there is none, prints a message and returns `None`.
    pub fn or_skipped(folder: &Path) -> Option<Chromium> {
        let Some(program) = installed() else {
            fathom_test_log::skipped("no Chromium is installed (Debian: apt-get install chromium)");
            return None;
        };
        Some(Chromium::start(&program, folder))
    }

    /// Starts `program`, which writes its files to `folder`.
    pub fn start(program: &Path, folder: &Path) -> Chromium {
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
                // Root can't use the sandbox; the pages are our own.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--no-first-run",
                // No animation must still be running when a test checks positions.
                "--force-prefers-reduced-motion",
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
            own: None,
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
        // An unfocused page gets no focus events.
        let on = json!({ "enabled": true });
        browser.call("Emulation.setFocusEmulationEnabled", on);
        browser
    }

    /// Sends a command and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
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
                let address = about["request"]["url"].as_str().unwrap_or_default();
                let may = |own: &String| address.starts_with(own.as_str());
                if !self.own.as_ref().is_some_and(may) {
                    self.complaints.push(format!("it asked for {address}"));
                }
            }
            _ => {}
        }
        message
    }

    /// Opens a page and waits until it has loaded.
    pub fn open(&mut self, name: &str, page: &str) {
        let path = self.folder.join(format!("{name}.html"));
        std::fs::write(&path, page).expect("the page is written");
        self.go(&format!("file://{}", path.display()), None);
    }

    /// Opens the page of a server and waits until it has loaded. The page may only send requests to this
    /// server.
    pub fn open_live(&mut self, address: &str) {
        let path = address.match_indices('/').nth(2).map(|(at, _)| at + 1);
        // Changing only the anchor of the open page would not load it again.
        self.go("about:blank", None);
        self.go(address, path.map(|end| address[..end].to_owned()));
    }

    fn go(&mut self, address: &str, own: Option<String>) {
        self.own = own;
        self.call("Page.navigate", json!({ "url": address }));
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// Returns the seconds from the request of the open page until it was drawn and no script was running.
    pub fn interactive(&mut self) -> f64 {
        self.run(INTERACTIVE).as_f64().expect("a number") / 1000.0
    }

    /// Returns the visible defects of the page as sentences.
    pub fn defects(&mut self) -> Vec<String> {
        let found = self.run(CHECKS);
        let found = found.as_array().expect("a list").iter();
        found.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Sets the width of the window and light or dark mode, and waits until it is drawn.
    pub fn show(&mut self, width: u32, dark: bool) {
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
        self.drawn();
    }

    /// Waits until everything is drawn: a page may redraw once its size is known.
    fn drawn(&mut self) {
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    }

    /// Returns the value of an expression on the page.
    pub fn run(&mut self, expression: &str) -> Value {
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

    /// Presses a key that types no character.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let parameters =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Returns the defects of keyboard navigation: each press of Tab must move to the next control in reading
    /// order, and the focus must be visible.
    pub fn defects_of_keys(&mut self) -> Vec<String> {
        self.drawn();
        let count = self.run(MARK).as_u64().expect("a number");
        let mut wrong = Vec::new();
        if count == 0 {
            wrong.push("nothing can be reached by keys".to_owned());
        }
        for expected in 0..count.min(50) {
            self.press("Tab", 9);
            let at = self.run("window.order.indexOf(document.activeElement)");
            if at != expected {
                let stands = self.run("document.activeElement.outerHTML.slice(0, 90)");
                wrong.push(format!("key {expected} leads to {at}: {stands}"));
                return wrong;
            }
            let seen = self.run("getComputedStyle(document.activeElement).outlineStyle !== 'none'");
            if seen != true {
                wrong.push(format!("the focus at {expected} can't be seen"));
            }
        }
        wrong
    }

    /// Drags the pointer from one position in the window to another, through the middle.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.press_pointer(from);
        self.move_pointer(((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0));
        self.release_pointer(to);
    }

    /// Presses the pointer's button at a position in the window, after the window is drawn, so that recent
    /// scrolling is taken into account.
    pub fn press_pointer(&mut self, at: (f64, f64)) {
        self.drawn();
        self.pointer("mouseMoved", at, false);
        self.pointer("mousePressed", at, true);
    }

    /// Moves the pointer with its button pressed.
    pub fn move_pointer(&mut self, to: (f64, f64)) {
        self.pointer("mouseMoved", to, true);
    }

    /// Moves the pointer and releases its button there.
    pub fn release_pointer(&mut self, at: (f64, f64)) {
        self.pointer("mouseMoved", at, true);
        self.pointer("mouseReleased", at, false);
    }

    fn pointer(&mut self, kind: &str, (x, y): (f64, f64), is_down: bool) {
        let moves_only = kind == "mouseMoved" && !is_down;
        let parameters = json!({
            "type": kind, "x": x, "y": y, "buttons": u8::from(is_down), "clickCount": 1,
            "button": if moves_only { "none" } else { "left" },
        });
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Waits until an expression on the page is true; checks it again after each change of the page.
    pub fn until(&mut self, condition: &str) {
        let script = format!(
            "new Promise((done) => {{
               const holds = () => {condition};
               if (holds()) return done(true);
               const watch = new MutationObserver(() => {{ if (holds()) {{ watch.disconnect(); done(true); }} }});
               watch.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
               setTimeout(() => done(false), {});
             }})",
            PATIENCE.as_millis() / 2
        );
        let held = self.run(&script);
        assert!(held == true, "never: {condition}\n{:?}", self.complaints);
    }

    /// Returns the parts that would be cut off on an A4 sheet, as sentences. Printing uses what was drawn for
    /// the window, so parts that would redraw are replaced by copies. Reopen the page afterwards.
    pub fn cut_on_paper(&mut self) -> Vec<String> {
        self.show(1280, false);
        self.run(
            "document.getElementById('part')?.replaceWith(document.getElementById('part').cloneNode(true))",
        );
        // 210 mm minus two margins of 10 mm, at 96 pixels per inch.
        let metrics =
            json!({ "width": 718, "height": 1016, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        let found = self.run(
            "[...document.querySelectorAll('main *')].filter((node) => node.checkVisibility() && !node.closest('.hidden')
               && node.getBoundingClientRect().right > window.innerWidth + 1)
             .map((node) => `${node.tagName} ${node.textContent.slice(0, 40)}`).slice(0, 5)",
        );
        self.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
        let found = found.as_array().expect("a list").iter();
        found.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns an image of the whole page as PNG.
    pub fn picture(&mut self) -> Vec<u8> {
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
        // The browser exits when its pipe is closed; killing it makes sure of that.
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
