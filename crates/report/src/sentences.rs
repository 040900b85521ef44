//! Single sentences of reports, for agents, which don't read tables. Untrusted texts are unescaped: the
//! caller must escape them.

use fathom_model::{BenchRecord, CompareRecord, DifferenceRecord, Explanation, Finding};

use crate::bench::verdicts;
use crate::history::compare_answer;
use crate::session::Subject;
use crate::why;

/// Returns the verdicts of a session, a sentence for each metric, with the commands numbered from 1: `2 is
/// 2.269x faster than 1 (95 % interval 2.266 to 2.272)`.
pub fn bench_sentences(record: &BenchRecord) -> Vec<String> {
    let in_one = |answer: crate::bench::Answer| {
        let interval = answer.interval.map(|interval| format!(" ({interval})"));
        let missing = answer.missing.map(|missing| format!("; {missing}"));
        answer.text + &interval.unwrap_or_default() + &missing.unwrap_or_default()
    };
    let answers = verdicts(record, &Subject::all(record));
    answers.into_iter().map(in_one).collect()
}

/// Returns a line about where the time goes, for a program without findings: `96 % in main; no known cause`.
pub fn explain_sentence(explanation: &Explanation) -> String {
    why::verdict(explanation)
}

/// Returns what a finding could save: `save about 190 ms of 753 ms (predicted)`.
pub fn saving_sentence(explanation: &Explanation, finding: &Finding) -> Option<String> {
    why::could_save(finding, why::whole_seconds(explanation))
}

/// Returns the result of running the command without the cause: `proved: 715 -> 258 ms without it (saves 440
/// to 470; predicted 550)`; `None` if that was not requested.
pub fn proof_sentence(finding: &Finding) -> Option<String> {
    why::proof(finding).map(|(_, said)| said)
}

/// Returns the difference as a sentence: `B takes 128 ms more than A (2.28x; 95 % interval 126 to 130 ms)`.
pub fn difference_sentence(record: &DifferenceRecord) -> String {
    why::difference_answer(record)
}

/// Returns the comparison as a sentence: `HEAD against main: slower, +3.2 %`.
pub fn compare_sentence(record: &CompareRecord) -> String {
    compare_answer(record, &record.base.asked, &record.head.asked)
}
