//! Measures: how subjects are measured.

use super::experiment::{Count, From, How, Measure, Take, Value};
use super::keys::Section;
use super::parse::Reader;
use super::table::{Located, Table};
use crate::unit;

/// The load of `serve` that is none of connections.
pub const WEBSOCKET: &str = "websocket";

/// Rounds where the file says nothing, by `how`.
const ROUNDS: u64 = 20;

impl Reader<'_> {
    pub(super) fn measures(&self, root: &Table<'_>) -> Vec<Measure> {
        let mut all: Vec<Measure> = Vec::new();
        for table in root.list("measure", Section::Measure) {
            let word = table.required("how", "write how = \"bench\"");
            let how = match How::ALL.iter().find(|(_, name)| *name == word.value) {
                Some((how, _)) => *how,
                None => {
                    if !word.value.is_empty() {
                        self.unknown(
                            word.span.clone(),
                            "way to measure",
                            &word.value,
                            How::ALL.iter().map(|(_, name)| *name),
                        );
                    }
                    continue;
                }
            };
            let id = table.text("id").unwrap_or_else(|| Located {
                value: how.name().to_string(),
                span: table.span.clone(),
            });
            self.name(&id, "measure");
            if all.iter().any(|other| other.id.value == id.value) {
                self.problems.add(
                    id.span.clone(),
                    format!("there are two measures `{}`", id.value),
                    "give each an `id` of its own",
                );
            }
            self.fitting_keys(&table, how);
            all.push(Measure {
                how,
                subjects: table.texts("subjects"),
                rounds: table.whole("rounds", 1).unwrap_or(match how {
                    How::Why => 5,
                    How::Serve if table.get("load").is_some() => 5,
                    How::Serve => 30,
                    _ => ROUNDS,
                }),
                quick_rounds: table.whole("quick_rounds", 1),
                warmup: table.whole("warmup", 0).unwrap_or(0),
                quick: table.flag("quick").unwrap_or(true),
                until_decided: table.flag("until_decided").unwrap_or(true),
                timeout: self.duration(&table, "timeout"),
                only: self.only(&table),
                values: self.values(&table),
                stages: table.texts("stages"),
                names: table.texts("names"),
                files: table.pairs("files"),
                counts: self.counts(&table),
                cache: self.caches(&table),
                load: self.loads(&table),
                path: table.text("path").map(|path| path.value),
                deflate: self.deflates(&table),
                step: self.duration(&table, "step"),
                full: table.flag("full").unwrap_or(false),
                needs: table.texts("needs"),
                span: table.span.clone(),
                id,
            });
        }
        all
    }

    /// Says which keys the measure can't use.
    pub(super) fn fitting_keys(&self, table: &Table<'_>, how: How) {
        let needed: &[&str] = match how {
            How::Value => &["values"],
            How::Pipe => &["stages"],
            _ => &[],
        };
        for key in needed {
            if table.get(key).is_none() {
                table.missing(
                    key,
                    match *key {
                        "values" => {
                            "write values.NAME = { pattern = \"took ([0-9.]+) us\", unit = \"us\" }"
                        }
                        _ => "write stages = [\"first command\", \"second command\"]",
                    },
                );
            }
        }
        if how == How::Static && table.get("files").is_none() && table.get("counts").is_none() {
            table.missing("files", "write files.NAME = \"{work}/program\", or counts.NAME = { command = \"…\", pattern = \"…\" }");
        }
        let only_of: [(&str, &[How]); 14] = [
            ("values", &[How::Value]),
            ("stages", &[How::Pipe]),
            ("names", &[How::Pipe]),
            ("files", &[How::Static]),
            ("counts", &[How::Static]),
            ("cache", &[How::Startup, How::Serve]),
            ("load", &[How::Serve]),
            ("path", &[How::Serve]),
            ("deflate", &[How::Serve]),
            ("step", &[How::Serve]),
            ("full", &[How::Machine]),
            ("needs", &[How::Pipe, How::Static]),
            (
                "subjects",
                &[How::Bench, How::Why, How::Startup, How::Serve, How::Value],
            ),
            ("warmup", &[How::Bench, How::Value]),
        ];
        for (key, ways) in only_of {
            if let Some(value) = table.get(key)
                && !ways.contains(&how)
            {
                let names: Vec<&str> = ways.iter().map(|how| how.name()).collect();
                self.problems.add(
                    value.span(),
                    format!("`{key}` means nothing for how = \"{}\"", how.name()),
                    format!("it belongs to {}", names.join(", ")),
                );
            }
        }
    }

    pub(super) fn caches(&self, table: &Table<'_>) -> Vec<Located<String>> {
        let caches = table.texts("cache");
        for cache in &caches {
            if !matches!(cache.value.as_str(), "warm" | "cold") {
                self.unknown(cache.span.clone(), "cache", &cache.value, ["warm", "cold"]);
            }
        }
        caches
    }

    pub(super) fn loads(&self, table: &Table<'_>) -> Vec<Located<String>> {
        let loads = table.texts("load");
        for load in &loads {
            let is_number = load.value.parse::<u32>().is_ok_and(|number| number > 0);
            if !is_number && load.value != WEBSOCKET {
                self.problems.add(
                    load.span.clone(),
                    format!("`{}` is no load", load.value),
                    "write numbers of connections, load = [1, 16, 64], or load = \"websocket\"",
                );
            }
        }
        if loads.len() > 1 && loads.iter().any(|load| load.value == WEBSOCKET) {
            self.problems.add(
                table.span.clone(),
                "a measure loads servers by WebSocket or by connections",
                "write two measures",
            );
        }
        loads
    }

    fn deflates(&self, table: &Table<'_>) -> bool {
        let deflates = table.flag("deflate").unwrap_or(false);
        if deflates
            && !table
                .texts("load")
                .iter()
                .any(|load| load.value == WEBSOCKET)
        {
            self.problems.add(
                table.span.clone(),
                "`deflate` is an extension of WebSocket",
                "write load = \"websocket\" beside it",
            );
        }
        deflates
    }

    pub(super) fn values(&self, table: &Table<'_>) -> Vec<Value> {
        let mut all = Vec::new();
        for (name, table) in table.named("values", Section::Value) {
            self.name(&name, "value");
            let pattern = self.pattern(&table, true);
            let (unit, scale) = match table.text("unit") {
                None => (unit::Unit::plain(), 1.0),
                Some(text) => unit::parse(&text).unwrap_or_else(|message| {
                    self.problems.add(text.span, message, "");
                    (unit::Unit::plain(), 1.0)
                }),
            };
            let better = table.text("better");
            if let Some(better) = &better
                && !matches!(better.value.as_str(), "lower" | "higher")
            {
                self.unknown(
                    better.span.clone(),
                    "direction",
                    better,
                    ["lower", "higher"],
                );
            }
            let take = match table.text("take") {
                None => Take::First,
                Some(text) => match Take::ALL.iter().find(|(_, name)| *name == text.value) {
                    Some((take, _)) => *take,
                    None => {
                        let known = Take::ALL.iter().map(|(_, name)| *name);
                        self.unknown(text.span.clone(), "way to take a match", &text, known);
                        Take::First
                    }
                },
            };
            let from = self.from(&table);
            let Some(pattern) = pattern else { continue };
            all.push(Value {
                name,
                pattern,
                from,
                unit,
                scale,
                take,
                higher_is_better: better.is_some_and(|better| better.value == "higher"),
            });
        }
        all
    }

    pub(super) fn counts(&self, table: &Table<'_>) -> Vec<Count> {
        let mut all = Vec::new();
        for (name, table) in table.named("counts", Section::Count) {
            self.name(&name, "count");
            let command = table.required("command", "write command = \"objdump -d {work}/x\"");
            let from = self.from(&table);
            let needs = table.texts("needs");
            if let Some(pattern) = self.pattern(&table, false) {
                all.push(Count {
                    name,
                    command,
                    pattern,
                    from,
                    needs,
                });
            }
        }
        all
    }

    pub(super) fn from(&self, table: &Table<'_>) -> From {
        match table.text("from") {
            None => From::Stdout,
            Some(text) if text.value == "stdout" => From::Stdout,
            Some(text) if text.value == "stderr" => From::Stderr,
            Some(text) => {
                self.unknown(text.span.clone(), "stream", &text, ["stdout", "stderr"]);
                From::Stdout
            }
        }
    }

    pub(super) fn pattern(&self, table: &Table<'_>, group: bool) -> Option<regex::Regex> {
        let text = table.required("pattern", "write pattern = \"took ([0-9.]+) us\"");
        if text.value.is_empty() {
            return None;
        }
        let built = regex::RegexBuilder::new(&text)
            .multi_line(true)
            .size_limit(1 << 20)
            .build();
        match built {
            Err(error) => {
                let message = error.to_string();
                let last = message.lines().last().unwrap_or_default().trim();
                self.problems.add(
                    text.span,
                    format!("the pattern is not understood: {last}"),
                    "it is a regular expression; in TOML, '…' keeps backslashes as they are",
                );
                None
            }
            Ok(pattern) if group && pattern.captures_len() != 2 => {
                self.problems.add(
                    text.span,
                    format!("the pattern has {} groups", pattern.captures_len() - 1),
                    "put ( ) around the number, and (?: ) around everything else",
                );
                None
            }
            Ok(pattern) => Some(pattern),
        }
    }
}
