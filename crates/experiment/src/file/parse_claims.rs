//! Claims, answers and pictures.

use fathom_model::{Layer, Published};

use super::experiment::{Answer, Claim, Formula, Picture};
use super::keys::Section;
use super::parse::{Reader, inside};
use super::table::{Located, Table};
use crate::{expression, unit};

impl Reader<'_> {
    pub(super) fn claims(&self, root: &Table<'_>) -> Vec<Claim> {
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

    pub(super) fn published(&self, table: &Table<'_>) -> Option<Published> {
        let table = table.table("published", Section::Published)?;
        let unit = table.text("unit");
        if let Some(text) = &unit
            && let Err(message) = unit::parse(text)
        {
            self.problems.add(text.span.clone(), message, "");
        }
        let value = table.number("value");
        let limit = table.flag("limit").unwrap_or(false);
        if limit && value.is_none() {
            table.missing("value", "write the limit as value = 0.1, with its unit");
        }
        Some(Published {
            value,
            unit: unit.map(|t| t.value),
            limit,
            figures: table.text("figures").map(|t| t.value),
            source: table.text("source").map(|t| t.value),
        })
    }

    pub(super) fn answers(&self, root: &Table<'_>) -> Vec<Answer> {
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

    pub(super) fn pictures(&self, root: &Table<'_>) -> Vec<Picture> {
        let mut all = Vec::new();
        for table in root.list("pictures", Section::Picture) {
            let over = table.texts("over");
            if over.len() < 2 {
                table.missing("over", "write over = [\"a\", \"b\"]: two subjects or more");
            }
            all.push(Picture {
                title: table
                    .required("title", "write title = \"Wall time over the releases\"")
                    .value,
                metric: table.required("metric", "write metric = \"wall\""),
                over,
            });
        }
        all
    }

    pub(super) fn formula(&self, text: Located<String>) -> Option<Formula> {
        match expression::parse(&text) {
            Ok(expression) => Some(Formula { text, expression }),
            Err(error) => {
                let span = inside(self.text, &text, &error.span);
                self.problems.add(span, error.message, error.advice);
                None
            }
        }
    }
}
