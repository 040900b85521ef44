//! Tests for load tests: the figures of answers, and requests without an answer.

use fathom_exchange::{Direction, Imported};

use crate::{folder, imported, left_out, series, summary, text};

fn value(of: &Imported, name: &str, metric: &str) -> Option<f64> {
    summary(series(of, name, metric, &[])).value
}

#[test]
fn vegeta() {
    let report = imported("vegeta.json");
    let response = series(&report, "vegeta", "response", &[]);
    assert_eq!(
        (response.unit.as_str(), response.direction),
        ("ns", Some(Direction::LowerIsBetter))
    );
    let response = summary(response);
    assert_eq!(
        (response.count, response.mean, response.min, response.max),
        (
            Some(100),
            Some(2_371_194.0),
            Some(1_949_582.0),
            Some(3_660_505.0)
        )
    );
    let percents = response.quantiles.iter();
    let percents: Vec<(&str, f64)> = percents.map(|(key, value)| (&**key, *value)).collect();
    assert_eq!(
        percents,
        [
            ("50", 2_854_306.0),
            ("90", 3_228_223.0),
            ("95", 3_478_629.0),
            ("99", 3_530_000.0)
        ]
    );
    let throughput = series(&report, "vegeta", "throughput", &[]);
    assert_eq!(throughput.direction, Some(Direction::HigherIsBetter));
    assert_eq!(
        value(&report, "vegeta", "throughput"),
        Some(101.00012489812)
    );
    assert_eq!(value(&report, "vegeta", "size_per_request"), Some(6067.0));
    // The rate is a setting; if it were imported as a rate of answers, it would be mistaken for the server's.
    assert_eq!(left_out(&report, "rate", "requested"), 1);
    assert!(report.benchmarks.iter().all(|one| one.metric != "rate"));
    assert_eq!(
        report.source.environment["date"],
        "2015-09-19T14:45:50.645818631+02:00"
    );
    // Status 0 is not an answer.
    let failing = r#"{"latencies":{"total":181370729,"mean":3627414,"99th":52527168},"bytes_in":{"mean":9.6},
        "bytes_out":{"mean":0},"requests":50,"success":0.4,"status_codes":{"0":28,"200":20,"503":2},
        "errors":["dial tcp: connection refused"]}"#;
    let failing = text(failing).unwrap();
    assert_eq!(value(&failing, "vegeta", "failed_responses"), Some(30.0));
    assert_eq!(value(&failing, "vegeta", "success_rate"), Some(0.4));
    assert_eq!(
        left_out(&failing, "error: dial tcp: connection refused", ""),
        1
    );
}

#[test]
fn bombardier() {
    let url = "http://www.google.ca";
    let report = imported("bombardier.json");
    let settings = [
        ("connections", "1"),
        ("method", "GET"),
        ("client", "fasthttp"),
    ];
    let response = series(&report, url, "response", &settings);
    assert_eq!(
        (response.unit.as_str(), summary(response).count),
        ("us", Some(100))
    );
    assert_eq!(
        (summary(response).mean, summary(response).standard_deviation),
        (Some(212_518.7), Some(1_167_030.43))
    );
    let rate = series(&report, url, "requests_per_second", &settings);
    assert_eq!(
        (summary(rate).mean, summary(rate).max, rate.direction),
        (Some(4.82), Some(200.0), Some(Direction::HigherIsBetter))
    );
    // This is output without `--print result`, with quantiles and with requests without an answer.
    let printed = r#"Bombarding http://h/ for 60s using 450 connection(s)
        [==================] 60s
        Done!
        {"spec":{"numberOfConnections":450,"method":"POST","url":"http://h/","rate":9000},"result":{"bytesRead":1,
        "timeTakenSeconds":61.9,"req1xx":0,"req2xx":93532,"req3xx":1,"req4xx":5,"req5xx":2,"others":10393,
        "errors":[{"description":"timeout","count":10393}],"latency":{"mean":8353.19,"stddev":4385.63,"max":2.106485e6,
        "percentiles":{"50":7995,"99":15989}},"rps":{"mean":1726.2,"stddev":445.7,"max":3732.9,
        "percentiles":{"50":1773.439813}}}}"#;
    let printed = text(printed).unwrap();
    let response = series(
        &printed,
        "http://h/",
        "response",
        &[("rate", "9000"), ("method", "POST")],
    );
    assert_eq!(summary(response).count, Some(103_933));
    assert_eq!(summary(response).quantiles["99"], 15_989.0);
    assert_eq!(summary(response).max, Some(2_106_485.0));
    let rate = summary(series(&printed, "http://h/", "throughput", &[]));
    assert_eq!(rate.mean, Some(1726.2));
    assert_eq!(
        value(&printed, "http://h/", "failed_responses"),
        Some(10_400.0)
    );
    assert_eq!(left_out(&printed, "error: timeout", "no response"), 10_393);
}

#[test]
fn autocannon() {
    let url = "http://127.0.0.1:3000";
    let report = imported("autocannon.json");
    let file = std::fs::read_to_string(folder().join("autocannon.json")).unwrap();
    let untitled = text(&file.replacen('{', "{\"title\": \"\",", 1)).unwrap();
    assert_eq!(untitled.benchmarks[0].name, url);
    let settings = [("connections", "10"), ("pipelining", "1")];
    let response = series(&report, url, "response", &settings);
    assert_eq!(response.unit, "ms");
    let figures = summary(response);
    assert_eq!(
        (figures.count, figures.mean, figures.min, figures.max),
        (Some(11_366), Some(13.56), Some(10.0), Some(36.0))
    );
    for (percent, value) in [
        ("0.001", 10.0),
        ("50", 13.0),
        ("97.5", 17.0),
        ("99", 20.0),
        ("99.9", 30.0),
    ] {
        assert_eq!(figures.quantiles.get(percent), Some(&value), "{percent}");
    }
    let rate = summary(series(&report, url, "requests_per_second", &settings));
    assert_eq!(
        (rate.mean, rate.standard_deviation, rate.count),
        (Some(1136.6), Some(30.0), Some(10))
    );
    let transfer = series(&report, url, "transfer_per_second", &settings);
    assert_eq!(
        (summary(transfer).mean, transfer.unit.as_str()),
        (Some(200_000.0), "B/s")
    );
    assert!(
        report
            .benchmarks
            .iter()
            .all(|one| one.metric != "failed_responses")
    );
    // Releases before 2 wrote `p999`; timeouts are included in the errors, and redirections are answers.
    let old = r#"{"url":"http://h","requests":{"average":5,"total":100},"latency":{"average":0.09,"p99":1,"p999":2,
        "p99999":6},"throughput":{"average":9},"errors":13,"timeouts":4,"mismatches":1,"connections":10,"pipelining":1,
        "non2xx":9,"1xx":0,"2xx":91,"3xx":2,"4xx":3,"5xx":4}"#;
    let old = text(old).unwrap();
    let response = summary(series(&old, "http://h", "response", &[]));
    assert_eq!((response.mean, response.count), (Some(0.09), Some(100)));
    assert_eq!(
        (response.quantiles["99.9"], response.quantiles["99.999"]),
        (2.0, 6.0)
    );
    assert_eq!(value(&old, "http://h", "failed_responses"), Some(21.0));
}

#[test]
fn wrk2_has_two_latencies_and_its_errors() {
    let url = "http://127.0.0.1:5678/cached";
    let report = imported("wrk2.txt");
    let response = summary(series(&report, url, "response", &[("connections", "96")])).clone();
    assert_eq!(
        (
            response.count,
            response.mean,
            response.standard_deviation,
            response.max
        ),
        (Some(60_000), Some(1.42), Some(0.982), Some(9.47))
    );
    assert_eq!(
        (response.quantiles["50"], response.quantiles["99"]),
        (1.10, 8.20)
    );
    let uncorrected = summary(series(&report, url, "response_uncorrected", &[]));
    assert_eq!(
        (uncorrected.quantiles["50"], uncorrected.quantiles["99"]),
        (0.18, 1.2)
    );
    for (metric, expected) in [
        ("connect_errors", 0.0),
        ("read_errors", 1.0),
        ("write_errors", 0.0),
        ("timeouts", 2.0),
        ("failed_responses", 3.0),
        // This is at the requested rate.
        ("throughput", 3000.0),
    ] {
        assert_eq!(value(&report, url, metric), Some(expected), "{metric}");
    }
    assert_eq!(left_out(&report, "Thread calibration", "before"), 2);
    assert_eq!(left_out(&report, "percentile spectrum", "quantiles"), 5);
}

#[test]
fn vegeta_as_text() {
    let report = imported("vegeta.txt");
    let response = series(&report, "vegeta", "response", &[]);
    let figures = summary(response);
    assert_eq!(
        (figures.count, figures.min, figures.mean, figures.max),
        (Some(60), Some(92_562_000.0), Some(5.014e9), Some(120e9))
    );
    assert_eq!(
        (figures.quantiles["50"], figures.quantiles["99"]),
        (315_774_000.0, 119.5e9)
    );
    assert_eq!(response.unit, "ns");
    assert_eq!(value(&report, "vegeta", "throughput"), Some(0.33));
    assert_eq!(value(&report, "vegeta", "success_rate"), Some(0.9667));
    assert_eq!(value(&report, "vegeta", "size_per_request"), Some(1275.03));
    assert_eq!(value(&report, "vegeta", "failed_responses"), Some(2.0));
    // This version doesn't report throughput; two reports stay separate.
    let old = "Requests      [total, rate]            250, 50.20\n\
        Latencies     [mean, 50, 95, 99, max]  371.63µs, 327.99µs, 614.92µs, 1.39ms, 12.50ms\n\
        Success       [ratio]                  100.00%\nStatus Codes  [code:count]             200:250  \n";
    let old = text(&format!("{old}\n{old}")).unwrap();
    let responses = old.benchmarks.iter().filter(|one| one.metric == "response");
    let means: Vec<Option<f64>> = responses.map(|one| summary(one).mean).collect();
    assert_eq!(means, [Some(371_630.0); 2]);
    assert_eq!(old.benchmarks.len(), 4);
}

#[test]
fn a_test_that_sent_nothing_has_no_figures() {
    let zero = r#"{"latencies":{"total":0,"mean":0,"50th":0,"90th":0,"95th":0,"99th":0,"max":0,"min":0},
        "bytes_in":{"total":0,"mean":0},"bytes_out":{"total":0,"mean":0},"duration":0,"wait":0,"requests":REQUESTS,
        "rate":0,"throughput":0,"success":0,"status_codes":{},"errors":[]}"#;
    let none = text(&zero.replace("REQUESTS", "0")).unwrap();
    assert!(none.benchmarks.is_empty(), "{:#?}", none.benchmarks);
    assert_eq!(left_out(&none, "vegeta", "no request was sent"), 1);
    // An answer can't take zero time, but a request without an answer is a valid result.
    let failed = text(&zero.replace("REQUESTS", "5")).unwrap();
    assert!(failed.benchmarks.iter().all(|one| one.metric != "response"));
    assert_eq!(left_out(&failed, "vegeta response", "a time of 0"), 1);
    assert_eq!(value(&failed, "vegeta", "success_rate"), Some(0.0));
}

#[test]
fn bombardier_as_text() {
    let url = "http://localhost:8080/test";
    let report = imported("bombardier.txt");
    let response = series(&report, url, "response", &[("connections", "1000")]);
    let figures = summary(response);
    assert_eq!((figures.count, figures.mean), (Some(44_598), Some(2.36e6)));
    // Seconds are converted to microseconds.
    let deviation = figures.standard_deviation.unwrap();
    assert!((deviation / 16.15e6 - 1.0).abs() < 1e-12, "{deviation}");
    assert_eq!(response.unit, "us");
    // The figures are for all answers, not only for the good ones.
    assert_eq!(
        (figures.quantiles["50"], figures.quantiles.len()),
        (23_730.0, 3)
    );
    assert_eq!(left_out(&report, "quantiles of a class", "all"), 2);
    let rate = summary(series(&report, url, "requests_per_second", &[]));
    assert_eq!((rate.mean, rate.max), (Some(1452.79), Some(6405.86)));
    assert_eq!(value(&report, url, "failed_responses"), Some(473.0));
    let refused = "error: dial tcp [::1]:8080: connect: connection refused";
    assert_eq!(left_out(&report, refused, "no response"), 396);
    let two = "Statistics        Avg      Stdev        Max\n  Reqs/sec      10.00    1.00    12.00\n  \
        Latency       3.00ms    1.00ms     9.00ms\n  HTTP codes:\n    1xx - 0, 2xx - 5, 3xx - 0, 4xx - 0, 5xx - 0\n    \
        others - 0\n  Throughput:    1.00KB/s\n";
    let two = text(&format!("{two}\n{two}")).unwrap();
    let names: Vec<&str> = two.benchmarks.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["bombardier"; 4]);
}
