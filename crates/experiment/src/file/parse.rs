//! From the text of a file to its parts.

use std::path::Path;
use std::time::Duration;

use fathom_model::{Layer, Published, Source};
use toml::de::DeTable;

use super::experiment::{
    Answer, Build, Claim, Content, Count, Experiment, Formula, From, How, Input, Measure, Only,
    Parameter, Registry, Subject, Take, Tool, Value,
};
use super::keys::Section;
use super::problem::{FileError, Problem, did_you_mean};
use super::table::{Located, Problems, Table};
use crate::expression;
use crate::unit;

/// The one version of the format.
pub const SCHEMA_VERSION: u64 = 1;
/// Rounds where the file says nothing, by `how`.
const ROUNDS: u64 = 20;

/// Reads the text of a file, without looking whether its parts fit each other; see [`crate::check`].
///
/// # Errors
/// Everything that is wrong, with its place.
pub fn parse(path: &Path, text: &str) -> Result<Experiment, FileError> {
    let failed = |problems| FileError {
        path: path.to_path_buf(),
        text: text.to_string(),
        problems,
    };
    let tree = DeTable::parse(text).map_err(|error| {
        failed(vec![Problem {
            span: error.span().unwrap_or(0..0),
            message: format!("not TOML: {}", error.message().replace('\n', ", ")),
            advice: String::new(),
        }])
    })?;
    let problems = Problems::default();
    let root = Table::new(tree.get_ref(), 0..1, Section::Root, &problems);
    let experiment = Reader {
        problems: &problems,
        text,
    }
    .experiment(path, &root);
    let problems = problems.into_sorted();
    if problems.is_empty() {
        Ok(experiment)
    } else {
        Err(failed(problems))
    }
}

struct Reader<'p> {
    problems: &'p Problems,
    text: &'p str,
}

impl Reader<'_> {
    fn experiment(&self, path: &Path, root: &Table<'_>) -> Experiment {
        match root.whole("schema_version", 1) {
            Some(SCHEMA_VERSION) => {}
            Some(other) => self.problems.add(
                root.get("schema_version").map_or(0..1, |v| v.span()),
                format!("schema_version is {other}"),
                "this Fathom reads version 1: write schema_version = 1",
            ),
            None if root.get("schema_version").is_none() => {
                root.missing("schema_version", "write schema_version = 1");
            }
            None => {}
        }
        Experiment {
            path: path.to_path_buf(),
            text: self.text.to_string(),
            title: root
                .required("title", "write title = \"What it is about\"")
                .value,
            question: root.text("question").map(|t| t.value),
            source: self.source(root),
            time_budget: self.duration(root, "time_budget"),
            tools: self.tools(root),
            inputs: self.inputs(root),
            builds: self.builds(root),
            parameters: self.parameters(root),
            subjects: self.subjects(root),
            measures: self.measures(root),
            claims: self.claims(root),
            answers: self.answers(root),
        }
    }

    fn source(&self, root: &Table<'_>) -> Option<Source> {
        let table = root.table("source", Section::Source)?;
        Some(Source {
            title: table.required("title", "write title = \"…\"").value,
            by: table.text("by").map(|t| t.value),
            year: table
                .whole("year", 1900)
                .and_then(|year| i64::try_from(year).ok()),
            url: table.text("url").map(|t| t.value),
            rows: plain(table.texts("rows")),
        })
    }

    fn tools(&self, root: &Table<'_>) -> Vec<Tool> {
        let mut all = Vec::new();
        for (name, table) in root.named("tools", Section::Tool) {
            self.name(&name, "tool");
            let mut packages = None;
            for (registry, key) in Registry::ALL {
                let given = table.texts(key);
                if given.is_empty() {
                    continue;
                }
                if let Some((other, _)) = &packages {
                    let other: &Registry = other;
                    self.problems.add(
                        given[0].span.clone(),
                        format!("the tool has both `{}` and `{key}`", other.key()),
                        "give one place to get it from; other ways go into `hint`",
                    );
                    continue;
                }
                let mut names = Vec::new();
                for text in &given {
                    for package in text.split_whitespace() {
                        if !is_package(package) {
                            self.problems.add(
                                text.span.clone(),
                                format!("{package:?} is no name of a package"),
                                "write \"package@version\"",
                            );
                        }
                        names.push(package.to_string());
                    }
                }
                packages = Some((registry, names));
            }
            all.push(Tool {
                check: table.required(
                    "check",
                    "write check = \"program --version\": a command that succeeds when it is there",
                ),
                packages,
                without: table.text("without").map(|t| t.value),
                hint: table.text("hint").map(|t| t.value),
                name,
            });
        }
        all
    }

    fn inputs(&self, root: &Table<'_>) -> Vec<Input> {
        let mut all = Vec::new();
        for (name, table) in root.named("inputs", Section::Input) {
            self.name(&name, "input");
            let mut contents = Vec::new();
            if let Some(text) = table.text("text") {
                contents.push(Content::Bytes(text.value.into_bytes()));
            }
            if let Some(text) = table.text("hex") {
                match hex(&text) {
                    Some(bytes) => contents.push(Content::Bytes(bytes)),
                    None => {
                        self.problems.add(
                            text.span,
                            "`hex` is not pairs of hexadecimal digits",
                            "write hex = \"00 01 ff\"",
                        );
                        contents.push(Content::Bytes(Vec::new()));
                    }
                }
            }
            if let Some(file) = table.text("file") {
                contents.push(Content::File(file));
            }
            if let Some(command) = table.text("generate") {
                contents.push(Content::Generated(command));
            }
            if contents.len() != 1 {
                self.problems.add(
                    name.span.clone(),
                    format!(
                        "the input `{}` has {} contents",
                        name.value,
                        match contents.len() {
                            0 => "no".to_string(),
                            n => n.to_string(),
                        }
                    ),
                    "give it one of text, hex, file, generate",
                );
            }
            let Some(content) = contents.into_iter().next() else {
                continue;
            };
            all.push(Input {
                content,
                seed: table.whole("seed", 0).unwrap_or(1),
                size: self.size(&table, "size"),
                quick_size: self.size(&table, "quick_size"),
                needs: table.texts("needs"),
                name,
            });
        }
        all
    }

    fn builds(&self, root: &Table<'_>) -> Vec<Build> {
        let mut all = Vec::new();
        for (name, table) in root.named("builds", Section::Build) {
            self.name(&name, "build");
            all.push(Build {
                command: table
                    .required("command", "write command = \"cc -O2 -o {work}/x src/x.c\""),
                needs: table.texts("needs"),
                cwd: table.text("cwd"),
                env: table.pairs("env"),
                timeout: self.duration(&table, "timeout"),
                name,
            });
        }
        all
    }

    fn parameters(&self, root: &Table<'_>) -> Vec<Parameter> {
        let mut all: Vec<Parameter> = Vec::new();
        let mut quick = Vec::new();
        for (name, value) in root.entries_of("parameters") {
            if name.value == "quick" {
                match value.get_ref().as_table() {
                    Some(entries) => {
                        for (key, value) in entries {
                            let key_name = key.get_ref().to_string();
                            if let Some(values) = root.values_of(&key_name, value) {
                                quick.push((key_name, key.span(), values));
                            }
                        }
                    }
                    None => self.problems.add(
                        value.span(),
                        "`quick` in [parameters] is no table",
                        "write quick = { NAME = [\"value\"] }",
                    ),
                }
                continue;
            }
            self.name(&name, "parameter");
            let Some(values) = root.values_of(&name.value, value) else {
                continue;
            };
            for (index, value) in values.iter().enumerate() {
                if values[..index]
                    .iter()
                    .any(|other| other.value == value.value)
                {
                    self.problems.add(
                        value.span.clone(),
                        format!("the value {:?} stands twice", value.value),
                        "each value once",
                    );
                }
            }
            all.push(Parameter {
                name,
                values: plain(values),
                quick: None,
            });
        }
        for (name, span, values) in quick {
            let Some(parameter) = all.iter_mut().find(|p| p.name.value == name) else {
                self.unknown(
                    span,
                    "parameter",
                    &name,
                    all.iter().map(|p| p.name.value.as_str()),
                );
                continue;
            };
            parameter.quick = Some(plain(values));
        }
        all
    }

    fn subjects(&self, root: &Table<'_>) -> Vec<Subject> {
        let mut all = Vec::new();
        for (name, table) in root.named("subjects", Section::Subject) {
            self.name(&name, "subject");
            all.push(Subject {
                command: table.required("command", "write command = \"program argument\""),
                input: table.text("input"),
                output: table.text("output"),
                env: table.pairs("env"),
                cwd: table.text("cwd"),
                language: table.text("language").map(|t| t.value),
                variant_of: table.text("variant_of"),
                needs: table.texts("needs"),
                timeout: self.duration(&table, "timeout"),
                may_fail: table.flag("may_fail").unwrap_or(false),
                only: self.only(&table),
                name,
            });
        }
        all
    }

    fn only(&self, table: &Table<'_>) -> Only {
        table.lists("only")
    }

    fn measures(&self, root: &Table<'_>) -> Vec<Measure> {
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
                    _ => ROUNDS,
                }),
                quick_rounds: table.whole("quick_rounds", 1),
                warmup: table.whole("warmup", 0).unwrap_or(0),
                quick: table.flag("quick").unwrap_or(true),
                timeout: self.duration(&table, "timeout"),
                only: self.only(&table),
                values: self.values(&table),
                stages: table.texts("stages"),
                names: table.texts("names"),
                files: table.pairs("files"),
                counts: self.counts(&table),
                cache: self.caches(&table),
                full: table.flag("full").unwrap_or(false),
                needs: table.texts("needs"),
                span: table.span.clone(),
                id,
            });
        }
        all
    }

    /// Says which keys the measure can't use.
    fn fitting_keys(&self, table: &Table<'_>, how: How) {
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
        let only_of: [(&str, &[How]); 10] = [
            ("values", &[How::Value]),
            ("stages", &[How::Pipe]),
            ("names", &[How::Pipe]),
            ("files", &[How::Static]),
            ("counts", &[How::Static]),
            ("cache", &[How::Startup]),
            ("full", &[How::Machine]),
            ("needs", &[How::Pipe, How::Static]),
            (
                "subjects",
                &[How::Bench, How::Why, How::Startup, How::Value],
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

    fn caches(&self, table: &Table<'_>) -> Vec<Located<String>> {
        let caches = table.texts("cache");
        for cache in &caches {
            if !matches!(cache.value.as_str(), "warm" | "cold") {
                self.unknown(cache.span.clone(), "cache", &cache.value, ["warm", "cold"]);
            }
        }
        caches
    }

    fn values(&self, table: &Table<'_>) -> Vec<Value> {
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

    fn counts(&self, table: &Table<'_>) -> Vec<Count> {
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

    fn from(&self, table: &Table<'_>) -> From {
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

    fn pattern(&self, table: &Table<'_>, group: bool) -> Option<regex::Regex> {
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

    fn claims(&self, root: &Table<'_>) -> Vec<Claim> {
        let mut all: Vec<Claim> = Vec::new();
        for table in root.list("claims", Section::Claim) {
            let id = table.required("id", "write id = \"a short name\"");
            if !id.value.is_empty() && all.iter().any(|other| other.id.value == id.value) {
                self.problems.add(
                    id.span.clone(),
                    format!("there are two claims `{}`", id.value),
                    "give each an `id` of its own",
                );
            }
            let layer = table.required(
                "layer",
                "write layer = \"size\": arithmetic, mechanism or size",
            );
            let layers = [Layer::Arithmetic, Layer::Mechanism, Layer::Size];
            let found = layers.iter().find(|known| known.name() == layer.value);
            if found.is_none() && !layer.value.is_empty() {
                self.unknown(
                    layer.span.clone(),
                    "layer",
                    &layer,
                    layers.iter().map(|known| known.name()),
                );
            }
            let needs = table.texts("needs");
            let holds = table.text("holds");
            if holds.is_none() && table.get("holds").is_none() && needs.is_empty() {
                table.missing(
                    "holds",
                    "write holds = \"ratio(wall.a, wall.b) >= 10\", or `needs` with the tool that is missing",
                );
            }
            all.push(Claim {
                text: table
                    .required("text", "write text = \"The claim in words\"")
                    .value,
                layer: found.copied().unwrap_or(Layer::Size),
                holds: holds.and_then(|text| self.formula(text)),
                published: self.published(&table),
                budget: table.flag("budget").unwrap_or(false),
                needs,
                note: table.text("note").map(|t| t.value),
                ill_posed_if: table
                    .text("ill_posed_if")
                    .and_then(|text| self.formula(text)),
                because: table.text("because").map(|t| t.value),
                id,
            });
        }
        all
    }

    fn published(&self, table: &Table<'_>) -> Option<Published> {
        let table = table.table("published", Section::Published)?;
        let unit = table.text("unit");
        if let Some(text) = &unit
            && let Err(message) = unit::parse(text)
        {
            self.problems.add(text.span.clone(), message, "");
        }
        Some(Published {
            value: table.number("value"),
            unit: unit.map(|t| t.value),
            figures: table.text("figures").map(|t| t.value),
            source: table.text("source").map(|t| t.value),
        })
    }

    fn answers(&self, root: &Table<'_>) -> Vec<Answer> {
        let mut all = Vec::new();
        for table in root.list("answers", Section::Answer) {
            let status = table.text("status");
            let open = match &status {
                None => table.get("answer").is_none(),
                Some(status) if status.value == "open" => true,
                Some(status) if status.value == "answered" => false,
                Some(status) => {
                    self.unknown(status.span.clone(), "status", status, ["open", "answered"]);
                    true
                }
            };
            let answer = table.text("answer").map(|t| t.value);
            let tried = table.text("tried").map(|t| t.value);
            if open && answer.is_none() && tried.is_none() {
                table.missing(
                    "answer",
                    "write answer = \"…\", or status = \"open\" and tried = \"…\"",
                );
            }
            if !open && answer.is_none() {
                table.missing("answer", "write answer = \"…\"");
            }
            all.push(Answer {
                question: table
                    .required("question", "write question = \"Why …?\"")
                    .value,
                answer,
                open,
                tried,
                evidence: table.texts("evidence"),
            });
        }
        all
    }

    fn formula(&self, text: Located<String>) -> Option<Formula> {
        match expression::parse(&text) {
            Ok(expression) => Some(Formula { text, expression }),
            Err(error) => {
                let span = inside(self.text, &text, &error.span);
                self.problems.add(span, error.message, error.advice);
                None
            }
        }
    }

    fn size(&self, table: &Table<'_>, key: &str) -> Option<u64> {
        let text = table.texts_or_number(key)?;
        match unit::bytes(&text) {
            Ok(bytes) => Some(bytes),
            Err(message) => {
                self.problems.add(text.span, message, "");
                None
            }
        }
    }

    fn duration(&self, table: &Table<'_>, key: &str) -> Option<Duration> {
        let text = table.texts_or_number(key)?;
        match duration(&text) {
            Some(duration) => Some(duration),
            None => {
                self.problems.add(
                    text.span.clone(),
                    format!("{:?} is no time", text.value),
                    "write one such as \"500ms\", \"30s\" or \"2min\"",
                );
                None
            }
        }
    }

    /// Names are used in expressions, placeholders and file names.
    fn name(&self, name: &Located<String>, what: &str) {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let ends = name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if !starts || !ends || !name.chars().all(legal) || name.len() > 60 {
            self.problems.add(
                name.span.clone(),
                format!("{:?} can't be the name of a {what}", name.value),
                "begin with a letter; then letters, digits, and _ - . between them",
            );
        }
    }

    fn unknown<'k>(
        &self,
        span: std::ops::Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let advice = match did_you_mean(word, known.iter().copied()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None if known.is_empty() => "the file has none".to_string(),
            None => format!("there is {}", known.join(", ")),
        };
        self.problems
            .add(span, format!("there is no {what} {word:?}"), advice);
    }
}

/// The bytes of the file at which a part of a text stands: exact where the text stands in the file
/// as it is, else the whole text.
pub fn inside(
    file: &str,
    text: &Located<String>,
    part: &std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let written = file.get(text.span.clone()).unwrap_or_default();
    match written.find(text.value.as_str()) {
        Some(start) => {
            let start = text.span.start + start;
            let end = (start + part.end).min(text.span.end);
            (start + part.start).min(end)..end
        }
        None => text.span.clone(),
    }
}

fn plain(list: Vec<Located<String>>) -> Vec<String> {
    list.into_iter().map(|text| text.value).collect()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    if digits.len() % 2 == 1 {
        return None;
    }
    Some(
        digits
            .chunks(2)
            .map(|pair| (pair[0] << 4 | pair[1]) as u8)
            .collect(),
    )
}

/// A package is handed to a package manager as a word: it must not be an option or a path.
fn is_package(text: &str) -> bool {
    let first = text.chars().next().unwrap_or('-');
    (first.is_ascii_alphanumeric() || first == '@')
        && text.len() <= 200
        && !text.contains("..")
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "@/._+-=:~".contains(c))
}

/// `500ms`, `30s`, `2min`, `1h`; a bare number is seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, word) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let scale = match word.trim() {
        "" => 1.0,
        "m" => 60.0,
        word => match unit::parse(word) {
            Ok((unit, scale)) if unit == unit::Unit::seconds() => scale,
            _ => return None,
        },
    };
    let seconds = number * scale;
    (seconds > 0.0 && seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
}
