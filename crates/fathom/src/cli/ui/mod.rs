//! `fathom ui`: shows the store live in a browser.

mod arguments;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) use arguments::Arguments;
use fathom_conduct::ConductError;
use fathom_conduct::report::{Live, Window};
use fathom_conduct::ui::{Answer, Asked, Redirect, Ui};
use fathom_report::{self as pages, ReportRows};

use crate::cli::failure::Failure;
use crate::cli::out::{self, say};
use crate::cli::write;

/// How long a page waits for a change before it sends a new request: less than the timeouts of browsers and
/// proxies.
const WAIT: Duration = Duration::from_secs(20);
/// How often the store is polled in the meantime.
const EVERY: Duration = Duration::from_millis(500);

/// Serves requests until Ctrl-C. Returns the exit code.
///
/// # Errors
/// A store that can't be read, a name that matches no benchmark, or a port that isn't available.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let stored = Stored {
        store: arguments.read.store,
        names: arguments.series,
        here,
        live: Mutex::new(None),
    };
    // Report errors here, not in the browser.
    let name = stored.with(|live| {
        live.overview()?;
        Ok(live.name().to_owned())
    })?;
    let ui = Ui::bind(arguments.port)?;
    let address = ui.address();
    fathom_measure::interrupt::catch();
    write::print(&format!("{address}\n"))?;
    say!("{} until Ctrl-C", pages::escape(&name));
    let opened = match !arguments.no_open && out::stdout_is_terminal() {
        true => open(&address),
        false => None,
    };
    let opened = Arc::new(Mutex::new(opened));
    let used = Arc::clone(&opened);
    ui.run(move |asked| {
        // The browser has sent a request, so it has read the file that led here.
        drop(used.lock().unwrap_or_else(PoisonError::into_inner).take());
        stored.answer(asked)
    });
    drop(opened.lock().unwrap_or_else(PoisonError::into_inner).take());
    Ok(0)
}

/// Asks the desktop to open a browser with a file that redirects to the address. The address was printed, so
/// it doesn't matter if there is no browser.
fn open(address: &str) -> Option<Redirect> {
    let redirect = Redirect::to(address).ok()?;
    let mut command = Command::new("xdg-open");
    command.arg(redirect.path()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // If no thread can be started, the child is reaped when this process ends.
    let _ = std::thread::Builder::new().spawn(move || child.wait());
    Some(redirect)
}

/// A store that is reopened after a failure, such as a restart of its server.
struct Stored {
    store: Option<String>,
    names: Vec<String>,
    here: PathBuf,
    live: Mutex<Option<Live>>,
}

impl Stored {
    fn with<T>(
        &self,
        ask: impl FnOnce(&mut Live) -> Result<T, ConductError>,
    ) -> Result<T, ConductError> {
        let mut held = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let mut live = match held.take() {
            Some(live) => live,
            None => Live::open(self.store.as_deref(), &self.here, &self.names)?,
        };
        let answer = ask(&mut live);
        if answer.is_ok() {
            *held = Some(live);
        }
        answer
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let answer = match asked.path.as_str() {
            "" => self.page(asked),
            "part" => self.part(asked),
            "versions" => self.with(|live| Ok(html(pages::report_versions(&live.versions()?)))),
            "changes" => self.changes(asked.value("since").unwrap_or("")),
            _ => return Answer::text(404, "no such page"),
        };
        answer.unwrap_or_else(|error| Answer::text(503, &error.to_string()))
    }

    fn page(&self, asked: &Asked) -> Result<Answer, ConductError> {
        let rows = ReportRows {
            words: asked.value("words").unwrap_or("").to_owned(),
            changed: asked.value("changed").is_some(),
            page: number(asked, "page", 0),
        };
        self.with(|live| {
            let (report, mark) = live.overview()?;
            Ok(html(pages::report_live(report, mark, &rows)))
        })
    }

    fn part(&self, asked: &Asked) -> Result<Answer, ConductError> {
        let link = asked.value("of").unwrap_or("");
        let window = |benchmark: String| Window {
            benchmark,
            metric: asked.value("metric").map(str::to_owned),
            from: number(asked, "from", 0),
            to: number(asked, "to", usize::MAX),
            most: number(asked, "most", 1000).clamp(10, 4000),
            at: asked.value("at").map(str::to_owned),
        };
        let report = self.with(|live| {
            let (report, _) = live.overview()?;
            let place = pages::report_place(report, link);
            match place.map(|place| report.benchmarks[place].shown()) {
                Some(shown) => live.part(&window(shown)),
                None => Ok(None),
            }
        })?;
        Ok(match report {
            Some(report) => json(pages::report_part(&report)),
            None => Answer::text(404, "the store has no such benchmark or metric"),
        })
    }

    /// Answers once the store's mark differs from `since`.
    fn changes(&self, since: &str) -> Result<Answer, ConductError> {
        let begin = Instant::now();
        loop {
            let mark = self.with(Live::mark)?;
            let ended = fathom_measure::interrupt::received().is_some();
            if mark != since || begin.elapsed() > WAIT || ended {
                return Ok(json(format!("{{\"mark\":\"{mark}\"}}")));
            }
            std::thread::sleep(EVERY);
        }
    }
}

/// Returns a number from a query; browsers may write 1e9 for large numbers.
fn number(asked: &Asked, name: &str, default: usize) -> usize {
    let value = asked.value(name).and_then(|text| text.parse::<f64>().ok());
    value.map_or(default, |value| value as usize)
}

fn json(text: String) -> Answer {
    whole("application/json", text)
}

fn html(text: String) -> Answer {
    whole("text/html; charset=utf-8", text)
}

fn whole(kind: &'static str, text: String) -> Answer {
    Answer {
        status: 200,
        kind,
        body: text.into_bytes(),
    }
}
