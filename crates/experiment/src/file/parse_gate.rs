//! `[gate]`: what may not become worse.

use fathom_conduct::gate::{Budget, BudgetLimit};
use fathom_model::Waiver;
use jiff::civil::Date;
use toml::de::DeValue;

use super::experiment::GateSettings;
use super::keys::Section;
use super::parse::Reader;
use super::table::{Located, Table};

impl Reader<'_> {
    pub(super) fn gate(&self, root: &Table<'_>) -> GateSettings {
        let Some(table) = root.table("gate", Section::Gate) else {
            return GateSettings::default();
        };
        let margin = table.text("margin").and_then(|text| self.share(&text));
        let margins = table
            .pairs("margins")
            .into_iter()
            .filter_map(|(name, text)| Some((name.value, self.share(&text)?)));
        let undecided = table.text("undecided").filter(|word| {
            let known = ["pass", "fail"].contains(&word.as_str());
            if !known {
                self.problems.add(
                    word.span.clone(),
                    format!("undecided is {:?}", word.value),
                    "write \"pass\" or \"fail\"",
                );
            }
            known
        });
        GateSettings {
            margin,
            margins: margins.collect(),
            base: table.text("base").map(|text| text.value),
            undecided_passes: undecided.map(|word| word.value == "pass"),
            budgets: self.budgets(&table),
            waivers: self.waivers(&table),
        }
    }

    /// `name.metric = "<= 1200"`, or the same with the name in quotes.
    fn budgets(&self, table: &Table<'_>) -> Vec<(String, Budget)> {
        let mut all = Vec::new();
        for (name, value) in table.entries_of("budgets") {
            if let Some(metrics) = value.get_ref().as_table() {
                for (metric, limit) in metrics {
                    let metric = Located {
                        value: metric.get_ref().to_string(),
                        span: metric.span(),
                    };
                    all.extend(self.budget(&name.value, &metric, limit));
                }
            } else if let Some((benchmark, metric)) = name.value.rsplit_once('.') {
                let metric = Located {
                    value: metric.to_owned(),
                    span: name.span.clone(),
                };
                all.extend(self.budget(benchmark, &metric, value));
            } else {
                self.problems.add(
                    name.span.clone(),
                    format!("{:?} names no metric", name.value),
                    "write NAME.METRIC = \"<= 1200\"",
                );
            }
        }
        all
    }

    fn budget(
        &self,
        benchmark: &str,
        metric: &Located<String>,
        value: &toml::Spanned<DeValue<'_>>,
    ) -> Option<(String, Budget)> {
        if !Budget::is_known(&metric.value) {
            self.problems.add(
                metric.span.clone(),
                format!("there is no metric {:?}", metric.value),
                "metrics that are exact: read_calls, write_calls, read_bytes, written_bytes, major_faults, binary_size",
            );
            return None;
        }
        let text = value.get_ref().as_str().unwrap_or_default().trim();
        let limit = text
            .strip_prefix("<=")
            .map(str::trim)
            .and_then(|limit| match limit {
                "base" => Some(BudgetLimit::Base),
                number => {
                    let number = number.replace('_', "").parse::<f64>().ok();
                    number
                        .filter(|number| *number >= 0.0)
                        .map(BudgetLimit::AtMost)
                }
            });
        let Some(limit) = limit else {
            self.problems.add(
                value.span(),
                format!("the budget of {benchmark}.{} is no limit", metric.value),
                "write \"<= 1200\", in the metric's unit (seconds, bytes or a count), or \"<= base\"",
            );
            return None;
        };
        let budget = Budget {
            metric: metric.value.clone(),
            limit,
            text: text.to_owned(),
        };
        Some((benchmark.to_owned(), budget))
    }

    fn waivers(&self, table: &Table<'_>) -> Vec<Waiver> {
        let waiver = |table: Table<'_>| {
            let until = self.day(&table)?;
            let metric = table
                .text("metric")
                .map_or_else(|| "wall".to_owned(), |text| text.value);
            Some(Waiver {
                benchmark: table
                    .required("benchmark", "write benchmark = \"NAME\"")
                    .value,
                metric,
                until,
                reason: table
                    .required("reason", "write reason = \"why it is let pass\"")
                    .value,
                at_most: table.text("at_most").and_then(|text| self.ceiling(&text)),
            })
        };
        table
            .list("waivers", Section::Waiver)
            .into_iter()
            .filter_map(waiver)
            .collect()
    }

    /// A waiver without an end would never be thought of again.
    fn day(&self, table: &Table<'_>) -> Option<String> {
        const EXAMPLE: &str = "write until = 2027-01-31, the last day on which it is let pass";
        let Some(value) = table.get("until") else {
            table.missing("until", EXAMPLE);
            return None;
        };
        let text = match value.get_ref() {
            DeValue::Datetime(day) => day.to_string(),
            DeValue::String(text) => text.to_string(),
            _ => String::new(),
        };
        if is_date(&text) {
            return Some(text);
        }
        self.problems
            .add(value.span(), format!("{text:?} is not a date"), EXAMPLE);
        None
    }

    fn ceiling(&self, text: &Located<String>) -> Option<f64> {
        let ceiling = share_of(text);
        if ceiling.is_none() {
            self.problems.add(
                text.span.clone(),
                format!("{:?} is not a change", text.value),
                "write one such as \"15%\", the largest change that is let pass",
            );
        }
        ceiling
    }

    fn share(&self, text: &Located<String>) -> Option<f64> {
        let share = share_of(text).filter(|share| *share < 1.0);
        if share.is_none() {
            self.problems.add(
                text.span.clone(),
                format!("{:?} is no margin", text.value),
                "write one such as \"3%\"",
            );
        }
        share
    }
}

/// `15%` as a share, which may be more than the whole.
pub fn share_of(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
    Some(number / 100.0).filter(|share| share.is_finite() && *share >= 0.0)
}

/// `2027-01-31`, a date of the calendar; ISO 8601 has other forms, which don't compare as text.
pub fn is_date(text: &str) -> bool {
    text.parse::<Date>()
        .is_ok_and(|date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_one_of_the_calendar() {
        for date in ["2027-01-31", "2028-02-29", "2000-02-29", "2026-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for none in [
            "2027-02-29",
            "2100-02-29",
            "2026-02-30",
            "2026-04-31",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "26-01-01",
            "2026-1-1",
            "soon",
            "2026-01-01T00:00:00Z",
        ] {
            assert!(!is_date(none), "{none}");
        }
    }
}
