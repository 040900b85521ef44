//! Tests the maximum memory that an import takes, as counted by the allocator; the limits applied before
//! parsing are estimates of it. This is a separate binary because the allocator applies to a whole program.

use fathom_exchange::read;
use fathom_test_memory::{Counting, most_in};

/// The limit promised in docs/security.md.
const MOST: isize = 400 << 20;
/// The maximum size of a document.
const LARGEST: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the maximum number of bytes that reading `text` takes, excluding the text itself, and whether it
/// was refused for its size before it was parsed.
fn peak(text: &str, format: &str) -> (isize, bool) {
    let mut refused = false;
    let most = most_in(|| {
        refused = match read(text.as_bytes(), "hostile", Some(format)) {
            Ok(_) => false,
            Err(error) => ["300 MB", "220 MB"]
                .iter()
                .any(|size| error.to_string().contains(size)),
        };
    });
    (most, refused)
}

/// Returns two texts that repeat `part` between a head and an end. The limit before the parser just accepts
/// the first; the second is an eighth longer. Both are shorter if the text reaches the maximum size.
fn fullest(head: &str, part: &str, end: &str, weight: usize, limit: usize) -> [String; 2] {
    let most = (LARGEST - head.len() - end.len()) / part.len();
    let times = (limit - (1 << 20)) / weight;
    [times, times + times / 8].map(|times| format!("{head}{}{end}", part.repeat(times.min(most))))
}

#[test]
fn what_the_estimates_let_through_takes_no_more_than_was_promised() {
    const JSON: usize = 300 << 20;
    const XML: usize = 220 << 20;
    let results = "{\"results\": [0,";
    let commits = "window.BENCHMARK_DATA = {\"entries\":{\"B\":[";
    let commit = "{\"commit\":{\"id\":\"a\"},\"benches\":[{\"name\":\"a\",\"value\":1}]},";
    let long = format!("\"{}\",", "x".repeat(400));
    let short = format!("\"{}\",", "x".repeat(9));
    let cases = [
        ("hyperfine", results, "{\"a\":0},", "0]}", 640 + 96, JSON),
        ("hyperfine", results, "[0],", "0]}", 160 + 96, JSON),
        ("hyperfine", results, "0,", "0]}", 96, JSON),
        ("hyperfine", results, &short, "0]}", 96, JSON),
        ("hyperfine", results, &long, "0]}", 96, JSON),
        (
            "github-action-benchmark-data",
            commits,
            commit,
            "{}]}}",
            3 * 640 + 160 + 3 * 96,
            JSON,
        ),
        ("junit", "<testsuite>", "<a/>", "</testsuite>", 72, XML),
        (
            "junit",
            "<testsuite>",
            "<testcase name=\"x\" time=\"1\"/>",
            "</testsuite>",
            72 + 2 * 48,
            XML,
        ),
    ];
    for (format, head, part, end, weight, limit) in cases {
        let [through, beyond] = fullest(head, part, end, weight, limit);
        let (bytes, refused) = peak(&through, format);
        assert!(!refused, "{part:.20}: the limit is another one by now");
        assert!(bytes <= MOST, "{part:.20}: {} MB", bytes >> 20);
        // What keeps the memory small must not be the limit on the text's length.
        assert!(bytes > 16 << 20, "{part:.20}: {bytes}: it was not parsed");
        if beyond.len() < LARGEST - part.len() {
            let (bytes, refused) = peak(&beyond, format);
            assert!(refused, "{part:.20} is not refused");
            assert!(bytes <= 2 * LARGEST as isize, "{part:.20}: {bytes}");
        }
    }
}
