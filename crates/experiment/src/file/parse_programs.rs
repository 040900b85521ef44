//! Tools, inputs, builds and subjects: what is made ready and run.

use super::experiment::{Build, Content, Input, Registry, Subject, Tool};
use super::keys::Section;
use super::parse::Reader;
use super::table::Table;
use crate::unit;

impl Reader<'_> {
    pub(super) fn tools(&self, root: &Table<'_>) -> Vec<Tool> {
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
                        if !is_package(package) && !is_own_crate(registry, package) {
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

    pub(super) fn inputs(&self, root: &Table<'_>) -> Vec<Input> {
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

    pub(super) fn builds(&self, root: &Table<'_>) -> Vec<Build> {
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

    pub(super) fn subjects(&self, root: &Table<'_>) -> Vec<Subject> {
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

    pub(super) fn size(&self, table: &Table<'_>, key: &str) -> Option<u64> {
        let text = table.texts_or_number(key)?;
        match unit::bytes(&text) {
            Ok(bytes) => Some(bytes),
            Err(message) => {
                self.problems.add(text.span, message, "");
                None
            }
        }
    }
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

/// `./FOLDER`: a crate in the experiment's own folder. Nothing above it can be named.
fn is_own_crate(registry: Registry, package: &str) -> bool {
    let inner = package.strip_prefix("./");
    registry == Registry::Cargo
        && inner.is_some_and(|inner| is_package(inner) && !inner.contains(['/', '@', '=']))
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
