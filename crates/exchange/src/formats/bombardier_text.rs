//! bombardier's text.

use std::io::BufRead;

use super::bombardier::Report;
use crate::collector::Collector;
use crate::error::Error;
use crate::json::holds;
use crate::lines;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64 << 10)];
    holds(start, &["Reqs/sec ", "HTTP codes:", "1xx - "])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut run = Run::default();
    lines::each(input, |line| {
        let text = lines::shown(line);
        // The progress bar is overwritten by what follows it.
        let text = text.rsplit('\r').next().unwrap_or_default().trim();
        if run.row(text, out).is_none() && !text.is_empty() {
            out.left_out("lines", "no results");
        }
        Ok(())
    })?;
    run.finish(out);
    Ok(())
}

#[derive(Default)]
struct Run {
    report: Report,
    section: Section,
}

#[derive(Default, PartialEq)]
enum Section {
    #[default]
    Statistics,
    /// Latency quantiles of one class of answers.
    OfClass,
    Errors,
}

impl Run {
    fn finish(&mut self, out: &mut Collector) {
        let report = std::mem::take(self).report;
        if report.rate.mean.is_some() {
            report.write(out);
        }
    }

    fn row(&mut self, line: &str, out: &mut Collector) -> Option<()> {
        let words = line.split_whitespace().collect::<Vec<_>>();
        let report = &mut self.report;
        match words[..] {
            ["Bombarding", url, ..] => {
                self.finish(out);
                url.clone_into(&mut self.report.name);
                let using = words.iter().position(|word| *word == "using")?;
                let connections = (*words.get(using + 1)?).to_owned();
                self.report.settings.push(("connections", connections));
            }
            ["Statistics", ..] => {
                // If another run has no introduction, it begins here.
                if report.rate.mean.is_some() {
                    self.finish(out);
                }
            }
            ["Reqs/sec", mean, deviation, max] => {
                report.rate.mean = lines::number(mean);
                report.rate.standard_deviation = lines::number(deviation);
                report.rate.max = lines::number(max);
            }
            ["Latency", "Distribution", ..] => {
                self.section = match line.ends_with("xx)") {
                    true => Section::OfClass,
                    false => Section::Statistics,
                };
            }
            ["Latency", mean, deviation, max] => {
                report.response.mean = microseconds(mean);
                report.response.standard_deviation = microseconds(deviation);
                report.response.max = microseconds(max);
            }
            [percent, time] if percent.ends_with('%') => {
                let percent = lines::number(percent.trim_end_matches('%'))?.to_string();
                let time = microseconds(time)?;
                match self.section == Section::Statistics {
                    true => drop(report.response.quantiles.insert(percent, time)),
                    false => out.left_out("quantiles of a class", "those of all requests are kept"),
                }
            }
            ["HTTP", "codes:"] => {}
            ["1xx", "-", ..] => {
                for pair in line.split(", ") {
                    let (class, times) = pair.split_once(" - ")?;
                    report.answers(class, times.parse().ok()?);
                }
            }
            ["others", "-", times] => report.no_answer(times.parse().ok()?),
            ["Errors:"] => self.section = Section::Errors,
            ["Throughput:", _] => {
                self.section = Section::Statistics;
                out.left_out("Throughput", "about the test as a whole");
            }
            _ if self.section == Section::Errors => {
                let (error, times) = line.rsplit_once(" - ")?;
                let what = format!("error: {error}");
                out.left_out_times(what, "no response", times.parse().ok()?);
            }
            _ => return None,
        }
        Some(())
    }
}

fn microseconds(text: &str) -> Option<f64> {
    lines::time(text, 1e3)
}
