//! How times of the explaining run are quoted.

use fathom_model::{Explanation, Finding};

use crate::TimeUnit;
use crate::quantity::{decimals_for, format_share, short_time};
use crate::text::JOIN;

/// Formats times of the explaining run. If it was hardly slower than the timed runs, they are quoted as
/// times; otherwise as shares of a wall time, because the observer affected them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) times: bool,
    wall_ns: u64,
}

impl Quote {
    /// Returns the quote for positions in the explaining run: when a process began, how long a thread lasted.
    pub(super) fn of_run(explanation: &Explanation) -> Quote {
        Quote {
            wall_ns: run_ns(explanation),
            ..Quote::of(explanation)
        }
    }

    /// Returns the quote for the times of calls and waits, which are parts of the untraced runs' wall time.
    pub(super) fn of(explanation: &Explanation) -> Quote {
        let explaining = &explanation.explaining;
        Quote {
            times: explaining.times_are_quoted,
            wall_ns: match explanation.account.wall_ns {
                0 => explaining.wall_ns,
                wall => wall,
            },
        }
    }

    /// Formats a time, such as `412 ms`, or its share of the wall time, such as `63 %`.
    pub(super) fn show(self, ns: u64) -> String {
        if self.times {
            time(ns as f64 / 1e9)
        } else {
            share_text(self.share(ns))
        }
    }

    /// Returns the share of the wall time. Sums over threads can exceed 1.
    pub(super) fn share(self, ns: u64) -> f64 {
        if self.wall_ns == 0 {
            0.0
        } else {
            ns as f64 / self.wall_ns as f64
        }
    }
}

/// Returns the time from the start of the explaining run to the end of its timeline.
pub(super) fn run_ns(explanation: &Explanation) -> u64 {
    let ends = explanation.timeline.iter().map(|stretch| stretch.to_ns);
    ends.fold(explanation.explaining.wall_ns, u64::max)
}

/// Formats `seconds` with three significant digits in the fitting unit.
pub(crate) fn time(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0".to_owned();
    }
    // Times aren't measured with a finer resolution than this.
    let seconds = if seconds < 1e-5 {
        (seconds * 1e7).round() / 1e7
    } else {
        seconds
    };
    short_time(seconds)
}

/// Formats a share with an ordinary space; a nonzero share that would round to 0 is `< 0.1 %`.
pub(crate) fn share_text(share: f64) -> String {
    if share > 0.0 && share < 0.0005 {
        return "< 0.1 %".to_owned();
    }
    if share == 0.0 {
        return "0 %".to_owned();
    }
    format_share(share).replace(JOIN, " ")
}

/// Formats a possible saving in the unit of the whole. It is a model, so it has two significant digits. Uses
/// CPU time if hardly any wall time would be saved.
pub(crate) fn could_save(finding: &Finding, whole_seconds: f64) -> Option<String> {
    let of_cpu = finding.could_win_ns < finding.could_win_cpu_ns / 10;
    let of_latency = finding.could_win_ns < finding.could_win_latency_ns;
    let saved_ns = match (of_cpu, of_latency) {
        (true, _) => finding.could_win_cpu_ns,
        (_, true) => finding.could_win_latency_ns,
        _ => finding.could_win_ns,
    };
    if saved_ns == 0 {
        return None;
    }
    let saved = saved_ns as f64 / 1e9;
    let unit = TimeUnit::fitting(whole_seconds);
    let whole = whole_seconds / unit.seconds();
    let value = saved / unit.seconds();
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).round() * step;
    let text = |value: f64, digits| format!("{:.*}", decimals_for(value, digits), value);
    let about = format!("about {} {}", text(rounded, 2), unit.symbol());
    let whole = format!("{} {}", text(whole, 3), unit.symbol());
    Some(match (of_cpu, of_latency) {
        (true, _) => format!("save {about} of CPU time (predicted)"),
        (_, true) => {
            format!(
                "get each piece {about} sooner, though the total time may not change (predicted)"
            )
        }
        // Rounded to two digits, a saving of nearly everything may exceed the whole.
        _ if rounded >= value && saved >= 0.97 * whole_seconds => {
            format!("save nearly all of {whole} (predicted)")
        }
        _ => format!("save {about} of {whole} (predicted)"),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use fathom_model::{CodePlace, Confidence, Place};

    use super::*;

    #[test]
    fn a_gain_has_two_digits_and_the_unit_of_the_whole() {
        let text = |wall, cpu, whole| {
            let finding = Finding {
                could_win_ns: wall,
                could_win_cpu_ns: cpu,
                ..finding()
            };
            could_save(&finding, whole).unwrap_or_default()
        };
        assert_eq!(
            text(423_456_789, 0, 0.6512),
            "save about 420 ms of 651 ms (predicted)"
        );
        assert_eq!(
            text(99_000_000, 100_000_000, 2.5),
            "save about 0.099 s of 2.50 s (predicted)"
        );
        assert_eq!(
            text(1_000, 290_000_000, 0.3),
            "save about 290 ms of CPU time (predicted)"
        );
        assert_eq!(text(0, 0, 1.0), "");
        assert_eq!(
            text(177_400_000, 0, 0.1774),
            "save nearly all of 177 ms (predicted)"
        );
    }

    pub(in crate::why) fn finding() -> Finding {
        Finding {
            id: fathom_model::FindingId::BusyPolling,
            statement: String::new(),
            evidence: Vec::new(),
            share: 0.9,
            could_win_ns: 0,
            could_win_cpu_ns: 0,
            could_win_latency_ns: 0,
            advice: String::new(),
            confidence: Confidence::Certain,
            limit: None,
            place: Place::default(),
            object: None,
            code: CodePlace::default(),
            callers: Vec::new(),
            parts: Vec::new(),
            saving: None,
            proof: None,
        }
    }

    #[test]
    fn where_times_may_not_be_quoted_there_are_shares() {
        let quote = Quote {
            times: false,
            wall_ns: 1000,
        };
        assert_eq!(quote.show(333), "33 %");
        assert_eq!(quote.show(0), "0 %");
        assert_eq!(
            Quote {
                times: false,
                wall_ns: 1_000_000
            }
            .show(3),
            "< 0.1 %"
        );
        assert_eq!(
            Quote {
                times: true,
                wall_ns: 1000
            }
            .show(4_123_456),
            "4.12 ms"
        );
    }

    #[test]
    fn a_run_without_length_has_no_shares() {
        let quote = Quote {
            times: false,
            wall_ns: 0,
        };
        assert_eq!(quote.show(5), "0 %");
    }
}
