//! Takes the client's messages and the ends of verbs in turn, on one thread, until the client is gone.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answers::{self, Answer};
use crate::bounded::text;
use crate::protocol::{self, Dialect, Refused};
use crate::verb::{Output, Verb};
use crate::{ServePlan, questions, tools};

/// The interval between two progress messages.
const BETWEEN: Duration = Duration::from_secs(1);
/// How long a verb that was asked to end has to stop everything it started and exit.
const TO_END: Duration = Duration::from_secs(10);

/// What the server waits for.
enum Event {
    Said(Result<Value, Refused>),
    /// The client has disconnected.
    Gone,
    /// The verb with this number has ended.
    Ended(u64, Output),
}

/// A call of a tool that a verb answers.
struct Call {
    id: Value,
    /// Whether it is in a version without a handshake.
    is_bare: bool,
    /// What the client recognizes progress by, if it asked for progress.
    token: Option<Value>,
    words: Vec<String>,
    answer: fn(&[u8]) -> Result<Answer, String>,
    /// Whether it measures. Measurements run one after the other, because they would disturb each other.
    measures: bool,
}

/// What a call of a tool needs.
enum Next {
    Run(Call),
    Answer(Result<Answer, String>),
}

struct Running {
    number: u64,
    call: Call,
    verb: Verb,
    /// When the client cancelled the call.
    cancelled: Option<Instant>,
}

struct Server {
    plan: ServePlan,
    dialect: Dialect,
    events: Sender<Event>,
    waiting: VecDeque<Call>,
    running: Vec<Running>,
    /// The number of verbs that were started.
    started: u64,
}

/// Serves requests until the client disconnects, then ends the commands that are still running. Call it on the
/// longest-lived thread: processes that it starts end with that thread.
///
/// # Errors
/// A message if the client made no request.
pub fn serve(plan: ServePlan) -> Result<(), String> {
    let (events, received) = channel();
    let said = events.clone();
    std::thread::spawn(move || {
        let mut from = std::io::stdin().lock();
        while let Some(message) = protocol::read(&mut from) {
            if said.send(Event::Said(message)).is_err() {
                return;
            }
        }
        // If there is no receiver, the server is gone as well.
        let _ = said.send(Event::Gone);
    });
    let dialect = Dialect {
        program: plan.version,
        has_handshake: false,
    };
    Server {
        plan,
        dialect,
        events,
        waiting: VecDeque::new(),
        running: Vec::new(),
        started: 0,
    }
    .serve(&received)
}

impl Server {
    fn serve(mut self, received: &Receiver<Event>) -> Result<(), String> {
        let mut was_asked = false;
        loop {
            let event = if self.running.is_empty() {
                received.recv().map_err(|error| error.to_string())?
            } else if let Ok(event) = received.recv_timeout(BETWEEN) {
                event
            } else {
                self.tick();
                continue;
            };
            match event {
                Event::Said(Ok(message)) => was_asked |= self.take(&message),
                Event::Said(Err(refused)) => protocol::respond(None, Err(refused)),
                Event::Ended(number, output) => self.ended(number, output),
                Event::Gone => break,
            }
        }
        self.end_all();
        match was_asked {
            true => Ok(()),
            false => Err("the client doesn't speak MCP: it made no request".to_owned()),
        }
    }

    /// Takes a message. Returns whether it is a request.
    fn take(&mut self, message: &Value) -> bool {
        let (method, params) = (message["method"].as_str(), &message["params"]);
        let (method, id) = match (method, message.get("id")) {
            (Some(method), Some(id)) => (method, id),
            (Some("notifications/cancelled"), None) => {
                self.cancel(&params["requestId"]);
                return false;
            }
            (Some(_), None) => return false,
            // The server makes no requests, so this is not a response to one.
            (None, id) => {
                protocol::respond(id, Err(Refused::no_request()));
                return false;
            }
        };
        match self.request(id, method, params) {
            Ok(None) => {}
            Ok(Some(result)) => protocol::respond(Some(id), Ok(result)),
            Err(refused) => protocol::respond(Some(id), Err(refused)),
        }
        true
    }

    /// Answers a request; returns `None` if a verb has to run first.
    fn request(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
    ) -> Result<Option<Value>, Refused> {
        if method == "initialize" {
            return Ok(Some(self.dialect.handshake(params)));
        }
        let is_bare = self.dialect.is_bare(method, params)?;
        match method {
            "server/discover" => Ok(Some(self.dialect.discovery())),
            "ping" if !is_bare => Ok(Some(json!({}))),
            "tools/list" => {
                let mut result = json!({"tools": tools::all(&self.plan.allowed)});
                if is_bare {
                    self.dialect.complete(&mut result);
                    protocol::cached(&mut result);
                }
                Ok(Some(result))
            }
            "tools/call" => match self.call(id, is_bare, params)? {
                Next::Run(call) => {
                    self.waiting.push_back(call);
                    self.start();
                    Ok(None)
                }
                Next::Answer(answer) => Ok(Some(self.result(is_bare, answer))),
            },
            _ => Err(Refused::unknown_method(method)),
        }
    }

    fn call(&self, id: &Value, is_bare: bool, params: &Value) -> Result<Next, Refused> {
        let (allowed, root) = (&self.plan.allowed, &self.plan.root);
        let asked = match &params["arguments"] {
            Value::Null => json!({}),
            arguments => arguments.clone(),
        };
        let answer: fn(&[u8]) -> Result<Answer, String>;
        let mut measures = false;
        let words = match params["name"].as_str().unwrap_or_default() {
            "bench" => {
                (answer, measures) = (answers::bench, true);
                read::<questions::Bench>(asked)?.words(allowed, root)
            }
            "why" => {
                (answer, measures) = (answers::why, true);
                read::<questions::Why>(asked)?.words(allowed, root)
            }
            "compare" => {
                answer = answers::compare;
                read::<questions::Compare>(asked)?.words(root)
            }
            "history" => {
                answer = answers::history;
                Ok(read::<questions::History>(asked)?.words())
            }
            "machine_check" => {
                (answer, measures) = (answers::machine, true);
                read::<questions::MachineCheck>(asked)?;
                Ok(questions::MachineCheck::words())
            }
            "explain" => {
                let word = read::<questions::Explain>(asked)?.word;
                return Ok(Next::Answer(answers::explain(&word)));
            }
            other => return Err(Refused::wrong_parameters(format!("unknown tool {other:?}"))),
        };
        let call = |words| Call {
            id: id.clone(),
            is_bare,
            token: params["_meta"].get("progressToken").cloned(),
            words,
            answer,
            measures,
        };
        Ok(words.map_or_else(|why| Next::Answer(Err(why)), |words| Next::Run(call(words))))
    }

    /// Starts the verbs whose turn it is.
    fn start(&mut self) {
        let mut later = VecDeque::new();
        while let Some(call) = self.waiting.pop_front() {
            if call.measures && self.running.iter().any(|running| running.call.measures) {
                later.push_back(call);
                continue;
            }
            self.started += 1;
            let (number, events) = (self.started, self.events.clone());
            let ended = move |output| {
                // There is no receiver if the client has disconnected.
                let _ = events.send(Event::Ended(number, output));
            };
            match Verb::start(&self.plan, &call.words, ended) {
                Ok(verb) => self.running.push(Running {
                    number,
                    call,
                    verb,
                    cancelled: None,
                }),
                Err(why) => {
                    let result = self.result(call.is_bare, Err(why));
                    protocol::respond(Some(&call.id), Ok(result));
                }
            }
        }
        self.waiting = later;
    }

    /// Answers the call whose verb has ended.
    fn ended(&mut self, number: u64, output: Output) {
        let place = |running: &Running| running.number == number;
        // A verb that was killed is not waited for.
        let Some(place) = self.running.iter().position(place) else {
            return;
        };
        let Running {
            call,
            mut verb,
            cancelled,
            ..
        } = self.running.remove(place);
        let code = verb.wait();
        if cancelled.is_none() {
            let answer = match output.stdout.is_empty() {
                true => Err(answers::failure(code, &output.stderr)),
                false => (call.answer)(&output.stdout),
            };
            let result = self.result(call.is_bare, answer);
            protocol::respond(Some(&call.id), Ok(result));
        }
        self.start();
    }

    /// Returns the result of a call.
    fn result(&self, is_bare: bool, answer: Result<Answer, String>) -> Value {
        let content = |text: &str| json!([{"type": "text", "text": text}]);
        let mut result = match answer {
            Ok(answer) => json!({
                "content": content(&answer.text),
                "structuredContent": answer.structured,
                "isError": false,
            }),
            Err(why) => {
                let lines: Vec<String> = why.lines().map(str::to_owned).collect();
                json!({"content": content(&text(&lines, "")), "isError": true})
            }
        };
        if is_bare {
            self.dialect.complete(&mut result);
        }
        result
    }

    /// Ends a cancelled call, which gets no response.
    fn cancel(&mut self, id: &Value) {
        self.waiting.retain(|call| call.id != *id);
        for running in &mut self.running {
            if running.call.id == *id && running.cancelled.is_none() {
                running.cancelled = Some(Instant::now());
                running.verb.end();
            }
        }
    }

    /// Tells the progress of each verb, and kills those that were asked to end and didn't.
    fn tick(&mut self) {
        for running in &self.running {
            let (Some(token), None) = (&running.call.token, running.cancelled) else {
                continue;
            };
            let seconds = running.verb.began.elapsed().as_secs_f64();
            let message = format!("measuring for {seconds:.0} s");
            let params = json!({"progressToken": token, "progress": seconds, "message": message});
            protocol::notify("notifications/progress", &params);
        }
        let late = |running: &mut Running| {
            running
                .cancelled
                .is_some_and(|since| since.elapsed() > TO_END)
        };
        for mut running in self.running.extract_if(.., late) {
            // Processes that hold its output open are not waited for.
            running.verb.kill();
            running.verb.wait();
        }
        self.start();
    }

    /// Ends all verbs and waits for them.
    fn end_all(mut self) {
        let verbs = &mut self.running;
        verbs.iter_mut().for_each(|running| running.verb.end());
        let until = Instant::now() + TO_END;
        while verbs.iter_mut().any(|running| running.verb.is_running()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        verbs.iter_mut().for_each(|running| running.verb.kill());
    }
}

fn read<T: DeserializeOwned>(asked: Value) -> Result<T, Refused> {
    serde_json::from_value(asked).map_err(|error| Refused::wrong_parameters(error.to_string()))
}
