//! The keys of each part of a file: the one list that the reader, the messages and the test of the
//! JSON schema go by.

/// A part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The file itself.
    Root,
    /// `[source]`
    Source,
    /// `[tools.NAME]`
    Tool,
    /// `[inputs.NAME]`
    Input,
    /// `[builds.NAME]`
    Build,
    /// `[subjects.NAME]`
    Subject,
    /// `[[measure]]`
    Measure,
    /// `values.NAME` of a measure
    Value,
    /// `counts.NAME` of a measure
    Count,
    /// `[[claims]]`
    Claim,
    /// `published` of a claim
    Published,
    /// `[[answers]]`
    Answer,
    /// `[[pictures]]`
    Picture,
    /// `[gate]`
    Gate,
    /// `[[gate.waivers]]`
    Waiver,
}

impl Section {
    /// All parts, with the name of their definition in the JSON schema.
    pub const ALL: [(Section, &'static str); 15] = [
        (Section::Root, ""),
        (Section::Source, "source"),
        (Section::Tool, "tool"),
        (Section::Input, "input"),
        (Section::Build, "build"),
        (Section::Subject, "subject"),
        (Section::Measure, "measure"),
        (Section::Value, "value"),
        (Section::Count, "count"),
        (Section::Claim, "claim"),
        (Section::Published, "published"),
        (Section::Answer, "answer"),
        (Section::Picture, "picture"),
        (Section::Gate, "gate"),
        (Section::Waiver, "waiver"),
    ];

    /// Every key that may stand in it.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Section::Root => &[
                "schema_version",
                "title",
                "question",
                "source",
                "time_budget",
                "tools",
                "inputs",
                "builds",
                "parameters",
                "subjects",
                "measure",
                "claims",
                "answers",
                "pictures",
                "gate",
            ],
            Section::Source => &["title", "by", "year", "url", "rows"],
            Section::Tool => &[
                "check", "apt", "cargo", "npm", "pypi", "go", "without", "hint",
            ],
            Section::Input => &[
                "text",
                "hex",
                "file",
                "generate",
                "seed",
                "size",
                "quick_size",
                "needs",
            ],
            Section::Build => &["command", "needs", "cwd", "env", "timeout"],
            Section::Subject => &[
                "command",
                "input",
                "output",
                "env",
                "cwd",
                "language",
                "variant_of",
                "needs",
                "timeout",
                "may_fail",
                "only",
            ],
            Section::Measure => &[
                "id",
                "how",
                "subjects",
                "rounds",
                "quick_rounds",
                "warmup",
                "quick",
                "until_decided",
                "timeout",
                "only",
                "values",
                "stages",
                "names",
                "files",
                "counts",
                "cache",
                "load",
                "path",
                "deflate",
                "step",
                "full",
                "needs",
            ],
            Section::Value => &["pattern", "from", "unit", "better", "take"],
            Section::Count => &["command", "pattern", "from", "needs"],
            Section::Claim => &[
                "id",
                "text",
                "layer",
                "holds",
                "published",
                "budget",
                "needs",
                "note",
                "ill_posed_if",
                "because",
            ],
            Section::Published => &["value", "unit", "limit", "figures", "source"],
            Section::Answer => &["question", "answer", "status", "tried", "evidence"],
            Section::Picture => &["title", "metric", "over"],
            Section::Gate => &[
                "margin",
                "margins",
                "base",
                "undecided",
                "budgets",
                "waivers",
            ],
            Section::Waiver => &["benchmark", "metric", "until", "at_most", "reason"],
        }
    }

    /// What it is called in messages.
    pub fn title(self) -> &'static str {
        match self {
            Section::Root => "an experiment file",
            Section::Source => "[source]",
            Section::Tool => "a tool",
            Section::Input => "an input",
            Section::Build => "a build",
            Section::Subject => "a subject",
            Section::Measure => "a measure",
            Section::Value => "a value",
            Section::Count => "a count",
            Section::Claim => "a claim",
            Section::Published => "`published`",
            Section::Answer => "an answer",
            Section::Picture => "a picture",
            Section::Gate => "[gate]",
            Section::Waiver => "a waiver",
        }
    }
}
