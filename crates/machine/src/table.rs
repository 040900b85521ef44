//! Results as a table of 80 columns: pure text.

use crate::check::{BUSY_FROM, CheckReport, Fitness, ToldBy};
use crate::probes::noise;
use crate::result::{NOT_REACHED, ProbeResult, Verdict};

/// A time in ns as people write it: `1.20 µs`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        n if n < 1e3 => (ns, "ns"),
        n if n < 1e6 => (ns / 1e3, "µs"),
        n if n < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A size in bytes as people write it: `32 KiB`.
pub fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 1024.0 => (bytes, "B"),
        b if b < 1048576.0 => (bytes / 1024.0, "KiB"),
        b if b < 1073741824.0 => (bytes / 1048576.0, "MiB"),
        _ => (bytes / 1073741824.0, "GiB"),
    };
    let shown = if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        digits(value)
    };
    format!("{shown} {unit}")
}

/// Three or four significant digits.
fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The value of a result with its unit, as people write it.
pub fn figure(value: f64, unit: &str) -> String {
    match unit {
        "B" => bytes(value),
        "ns" => time(value),
        "us" => time(value * 1e3),
        "GHz" => format!("{value:.3} GHz"),
        "pages" | "branches" | "ticks" | "slots" | "gaps" | "nodes" => count(value, unit),
        _ => format!("{} {unit}", digits(value)),
    }
}

/// A number of things; `units` are more than one of them.
fn count(value: f64, units: &str) -> String {
    let unit = match (value.round() == 1.0, units) {
        (true, "branches") => "branch",
        (true, _) => units.strip_suffix('s').unwrap_or(units),
        _ => units,
    };
    format!("{value:.0} {unit}")
}

/// How a result stands, in a word. A row that tells of disturbance says whether there is any: that it has a figure
/// is no praise of the machine.
pub fn standing(result: &ProbeResult) -> &'static str {
    match result.value {
        Some(lost) if result.id == noise::HEADING.id => match lost >= BUSY_FROM * 100.0 {
            true => "busy",
            false => "quiet",
        },
        _ => result.verdict.name(),
    }
}

const TITLE: usize = 34;
const VALUE: usize = 14;
const SPREAD: usize = 8;

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detail {
    /// The method of each probe, in a sentence.
    pub methods: bool,
    /// The points of each curve as a bar chart.
    pub curves: bool,
}

/// First the names of what was not reached, then one line a probe: title, value, spread, standing; the reason
/// beneath where there is no figure.
pub fn render(results: &[ProbeResult], detail: Detail) -> String {
    let mut out = String::new();
    not_reached(&mut out, results);
    out.push_str(&format!(
        "{:<TITLE$} {:>VALUE$} {:>SPREAD$}  {}\n",
        "probe", "value", "spread", "standing",
    ));
    for result in results.iter().filter(|result| !is_not_reached(result)) {
        line(&mut out, result);
        if detail.methods {
            wrapped(&mut out, &result.method);
        }
        if detail.curves
            && let Some(points) = &result.points
        {
            curve(&mut out, result, points);
        }
    }
    out
}

/// There is nothing to say of it but its name.
fn is_not_reached(result: &ProbeResult) -> bool {
    let note = result.note.as_deref();
    note == Some(NOT_REACHED) && result.value.is_none() && result.reported.is_none()
}

fn not_reached(out: &mut String, results: &[ProbeResult]) {
    let names: Vec<&str> = results
        .iter()
        .filter(|result| is_not_reached(result))
        .map(|result| result.title.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    out.push_str(&format!(
        "{NOT_REACHED} for {} of {} probes ('fathom machine --check' says what disturbs)\n",
        names.len(),
        results.len()
    ));
    wrapped(out, &names.join(", "));
    out.push('\n');
}

fn line(out: &mut String, result: &ProbeResult) {
    let value = match result.value {
        Some(value) => figure(value, &result.unit),
        None => "-".into(),
    };
    let spread = match result.spread {
        Some(spread) if spread < 10.0 => format!("{:.1} %", spread * 100.0),
        Some(_) => "> 10x".into(),
        None => String::new(),
    };
    let text = format!(
        "{:<TITLE$} {value:>VALUE$} {spread:>SPREAD$}  {}",
        result.title,
        standing(result)
    );
    out.push_str(text.trim_end());
    out.push('\n');
    if let Some(cycles) = result.cycles {
        wrapped(
            out,
            &format!("{} cycles of the core's clock", digits(cycles)),
        );
    }
    if let Some(reported) = result.reported {
        let differs = result.value.is_some_and(|value| value != reported);
        wrapped(
            out,
            &format!(
                "reported by the system: {}{}",
                figure(reported, &result.unit),
                if differs { " (differs)" } else { "" }
            ),
        );
    }
    if let Some(note) = &result.note {
        wrapped(out, note);
    }
    if result.verdict == Verdict::Disturbed
        && let (Some(min), Some(median)) = (result.min, result.median)
    {
        wrapped(
            out,
            &format!(
                "seen: {} and {}",
                figure(min, &result.unit),
                figure(median, &result.unit)
            ),
        );
    }
}

/// The checks, what each does to results and what mends it, and the sum.
pub fn render_check(report: &CheckReport) -> String {
    let mut out = format!("{:<20} {:<8} found\n", "check", "state");
    for item in &report.items {
        let head = format!("{:<20} {:<8} ", item.id, item.state.name());
        out.push_str(&head);
        let room = 80 - head.chars().count();
        let found: String = item.found.chars().take(room).collect();
        out.push_str(&found);
        out.push('\n');
        if let Some(effect) = &item.effect {
            wrapped(&mut out, effect);
        }
        if let Some(remedy) = &item.remedy {
            wrapped(&mut out, &format!("-> {remedy}"));
        }
    }
    let gaps = &report.noise.gaps;
    out.push_str(&format!(
        "\nnoise: {:.2} % of a spinning core lost in {:.1} s, {} gaps, the longest {}\n",
        gaps.lost * 100.0,
        gaps.seconds,
        gaps.count,
        time(gaps.longest_ns)
    ));
    if let Some(by) = &report.noise.told_by {
        smallest_difference(&mut out, report.noise.smallest_difference, by);
    }
    out.push_str(match report.fitness {
        Fitness::Quiet => "quiet: fit to measure on\n",
        Fitness::Usable => "usable: short chunks and low quantiles hold, medians are wide\n",
        Fitness::Unfit => "unfit: wall times would not be worth printing\n",
    });
    out
}

fn smallest_difference(out: &mut String, smallest: Option<f64>, by: &ToldBy) {
    let runs = format!(
        "{} rounds of a program of {}, against itself",
        by.rounds,
        time(by.program_seconds * 1e9)
    );
    let clock = match by.clock.as_str() {
        "wall" => "wall time",
        "undisturbed" => "undisturbed time",
        other => other,
    };
    match smallest {
        Some(smallest) => {
            out.push_str(&format!(
                "smallest difference that 'fathom bench' tells here: {:.1} % of {clock}\n",
                smallest * 100.0
            ));
            wrapped(out, &format!("in four of five tries of {runs}"));
        }
        None => {
            out.push_str("no difference that 'fathom bench' would tell here\n");
            wrapped(out, &format!("by {clock}, in {runs}"));
        }
    }
}

/// Text beneath a line, indented, at most 80 columns wide.
fn wrapped(out: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 80 {
            out.push('\n');
            width = 0;
        }
        out.push_str(if width == 0 { "    " } else { " " });
        width += if width == 0 { 4 + length } else { 1 + length };
        out.push_str(word);
    }
    out.push('\n');
}

fn curve(out: &mut String, result: &ProbeResult, points: &[(f64, f64)]) {
    let most = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let unit = result.points_unit.as_deref().unwrap_or(&result.unit);
    let over = result.points_over.as_deref().unwrap_or("");
    for (x, y) in points {
        let x = match over {
            "bytes" => bytes(*x),
            _ => format!("{x:.0} {over}"),
        };
        let bar = "#".repeat((y / most * 36.0).round() as usize);
        out.push_str(&format!("{x:>18}  {:>12}  {bar}\n", figure(*y, unit)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Estimator, Heading};

    const HEAD: Heading = Heading {
        id: "l1_size",
        title: "first-level cache, size",
        unit: "B",
        method: "a method that is long enough to be broken into two lines because it has more \
                 than eighty characters in it",
    };

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!(time(0.84), "0.84 ns");
        assert_eq!(time(1204.0), "1.20 µs");
        assert_eq!(time(83e6), "83.0 ms");
        assert_eq!(bytes(32768.0), "32 KiB");
        assert_eq!(bytes(1.5 * 1048576.0), "1.50 MiB");
        assert_eq!(figure(3.6944, "GHz"), "3.694 GHz");
        assert_eq!(figure(26.0, "ticks"), "26 ticks");
    }

    #[test]
    fn one_thing_is_one() {
        assert_eq!(figure(1.0, "nodes"), "1 node");
        assert_eq!(figure(1.0, "branches"), "1 branch");
        assert_eq!(figure(2.0, "nodes"), "2 nodes");
    }

    #[test]
    fn a_figure_of_disturbance_does_not_read_as_a_machine_that_is_fine() {
        let shown = |lost: f64| {
            let gaps = noise::Gaps {
                lost,
                ..noise::Gaps::default()
            };
            render(&[noise::result(&gaps)], Detail::default())
        };
        let row = |text: String| text.lines().nth(1).unwrap().to_owned();
        assert!(row(shown(0.838)).ends_with("busy"));
        assert!(row(shown(0.004)).ends_with("quiet"));
        let mut other = ProbeResult::blank(HEAD, Estimator::Derived, Verdict::Ok);
        other.value = Some(32768.0);
        assert!(row(render(&[other], Detail::default())).ends_with("measured"));
    }

    #[test]
    fn what_was_not_reached_is_named_once_and_first() {
        let head = |id, title| Heading { id, title, ..HEAD };
        let results = [
            ProbeResult::not_measurable(head("a", "energy"), "no meter"),
            ProbeResult::not_reached(head("b", "memory nodes")),
            ProbeResult::not_reached(head("c", "pipe round trip")),
        ];
        let text = render(&results, Detail::default());
        assert!(
            text.starts_with("not reached: the machine was too busy for 2 of 3 probes"),
            "{text}"
        );
        assert!(
            text.contains("    memory nodes, pipe round trip\n\nprobe"),
            "{text}"
        );
        assert_eq!(text.matches("memory nodes").count(), 1, "{text}");
        assert!(text.contains("energy"), "{text}");
    }

    #[test]
    fn the_smallest_difference_says_what_it_rests_on() {
        let by = ToldBy {
            rounds: 50,
            clock: "undisturbed".into(),
            program_seconds: 0.005_21,
        };
        let mut told = String::new();
        smallest_difference(&mut told, Some(0.02), &by);
        assert_eq!(
            told,
            "smallest difference that 'fathom bench' tells here: 2.0 % of undisturbed time\n    in four of \
             five tries of 50 rounds of a program of 5.21 ms, against itself\n"
        );
        let mut none = String::new();
        smallest_difference(&mut none, None, &by);
        assert!(
            none.contains("no difference") && none.contains("50 rounds"),
            "{none}"
        );
    }

    #[test]
    fn reported_and_measured_stand_side_by_side() {
        let mut result = ProbeResult::blank(HEAD, Estimator::Derived, Verdict::Ok);
        result.value = Some(32768.0);
        result.reported = Some(49152.0);
        let text = render(&[result], Detail::default());
        assert!(text.contains("32 KiB"), "{text}");
        assert!(
            text.contains("reported by the system: 48 KiB (differs)"),
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_80_columns() {
        let mut result = ProbeResult::not_measurable(HEAD, "why ".repeat(50));
        result.points = Some(vec![(4096.0, 1.0), (1e9, 3.0)]);
        result.points_over = Some("bytes".into());
        let text = render(
            &[result],
            Detail {
                methods: true,
                curves: true,
            },
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains("not measurable here"));
    }
}
