//! Tests for both kinds of stores.

use std::collections::HashSet;

use fathom_store::{
    Draft, Error, Input, Location, Options, Prune, Selector, SeriesFilter, Since, Store, Warning,
    date,
};
use serde_json::json;

use crate::support::{Place, bench, draft, hour, series, values};

pub(crate) fn a_store_is_made_only_where_one_is_wanted(place: &Place) {
    let reading = Options {
        create: false,
        ..Options::default()
    };
    for _ in 0..2 {
        let missing = Store::open_with(&place.location, reading).err().unwrap();
        assert!(matches!(missing, Error::Missing { .. }), "{missing}");
    }
    if let Location::File(path) = &place.location {
        assert!(!path.parent().unwrap().exists());
    }
    assert_eq!(place.store().info().unwrap().records, 0);
    assert!(Store::open_with(&place.location, reading).is_ok());
}

pub(crate) fn a_record_comes_back_as_it_was_saved(place: &Place) {
    let mut store = place.store();
    let mut first = draft(&[("parse", 0.25), ("print", 1.5)], 1);
    first.labels = vec!["v1".into(), "it's \"quoted\" ; -- ✓".into()];
    first.command = "fathom bench parse print".into();
    first.inputs = vec![Input {
        path: "a.txt".into(),
        sha256: "00".into(),
    }];
    first.text += "\n "; // not as a JSON library would write it
    let id = store.save(&first).unwrap().id;
    store.save(&draft(&[("parse", 0.5)], 2)).unwrap();

    let found = store.find("@-2").unwrap();
    let head = &found[0];
    assert_eq!(
        (&head.id, head.kind.as_str(), head.time),
        (&id, "bench", hour(1))
    );
    assert_eq!(head.revision, first.revision);
    assert_eq!(
        (&head.command, &head.inputs),
        (&first.command, &first.inputs)
    );
    assert_eq!(
        (head.seed, head.fathom_version.as_str()),
        (Some(u64::MAX), "0.1.0")
    );
    assert_eq!(head.labels, ["it's \"quoted\" ; -- ✓", "v1"]);
    assert_eq!(store.record(head).unwrap(), first.text);

    for asked in [
        "v1",
        &id,
        &id[..8],
        "it's \"quoted\" ; -- ✓",
        &format!("{:040x}", 1),
    ] {
        assert_eq!(store.find(asked).unwrap(), found, "{asked}");
    }
    let ambiguous = store.find("0000").unwrap_err().to_string(); // both revisions start with this
    assert!(
        ambiguous.contains(&format!("{:040x} or {:040x}", 1, 2)),
        "{ambiguous}"
    );
    for nothing in ["v2", "@-3", "@-0", "'", "ffffffffffff", ""] {
        assert!(
            matches!(store.find(nothing), Err(Error::NotFound { .. })),
            "{nothing}"
        );
    }
    let all = store.records(&Selector::All).unwrap();
    assert_eq!(
        all.iter().map(|head| head.time).collect::<Vec<_>>(),
        [hour(2), hour(1)]
    );
}

pub(crate) fn what_is_saved_twice_is_there_once(place: &Place) {
    let mut store = place.store();
    let mut twice = draft(&[("parse", 0.25)], 1);
    assert!(store.save(&twice).unwrap().new);
    twice.labels = vec!["again".into()];
    let again = place.store().save(&twice).unwrap();
    assert!(!again.new && again.warnings.is_empty());
    assert_eq!(values(&mut store, "parse"), [0.25]);
    assert_eq!(store.find("again").unwrap()[0].id, again.id);
    assert_eq!(store.info().unwrap().records, 1);
}

pub(crate) fn series_come_with_their_newest_points(place: &Place) {
    let mut store = place.store();
    let names: Vec<String> = (0..12).map(|n| format!("b{n}")).collect();
    for hours in 0..5 {
        let figures: Vec<(&str, f64)> = names
            .iter()
            .map(|name| (name.as_str(), hours as f64))
            .collect();
        // One benchmark starts later than the others.
        store
            .save(&draft(&figures[usize::from(hours < 4)..], hours))
            .unwrap();
    }
    let all = store.series(&SeriesFilter::default(), 3).unwrap();
    assert_eq!(all.len(), 12);
    for series in &all {
        let last: Vec<f64> = series.last.iter().map(|point| point.value).collect();
        match series.benchmark.as_str() {
            "b0" => assert_eq!(last, [4.0]),
            _ => assert_eq!(last, [2.0, 3.0, 4.0], "{series:?}"),
        }
        assert_eq!(
            (series.metric.as_str(), series.unit.as_str()),
            ("wall", "seconds")
        );
        assert_eq!(series.direction.as_deref(), Some("lower_is_better"));
        assert_eq!(series.meaning, "median wall time of a run");
    }
    let some = |benchmark: &str, metric: Option<&str>| SeriesFilter {
        benchmarks: vec![benchmark.into()],
        metric: metric.map(str::to_owned),
    };
    assert_eq!(store.series(&some("b1*", None), 1).unwrap().len(), 3);
    assert_eq!(store.series(&some("b1*", Some("cpu")), 1).unwrap(), []);
}

pub(crate) fn points_stay_the_same_when_they_are_sealed(place: &Place) {
    let mut store = place.store();
    // Save in four steps, to get several chunks and a tail.
    for part in 0..4 {
        let drafts: Vec<Draft> = (part * 300..part * 300 + 300)
            .map(|n| draft(&[("parse", f64::from(n as u32)), ("print", 0.1)], n))
            .collect();
        assert_eq!(store.save_all(&drafts).unwrap().len(), 300);
    }
    store.save(&draft(&[("parse", 1200.0)], 1200)).unwrap();
    let number = series(&mut store, "parse");
    let history = store.history(number, &Since::Start).unwrap();
    assert_eq!(history.len(), 1201);
    for (n, entry) in history.iter().enumerate() {
        let (point, value) = (entry.point, n as f64);
        assert_eq!((point.time, point.runs), (hour(n as i64), 10));
        assert_eq!(
            (point.value, point.low, point.high),
            (value, value * 0.9, value * 1.1)
        );
        assert_eq!(entry.record.number, point.record);
        assert_eq!(
            entry.record.revision.as_ref().unwrap().id,
            format!("{n:040x}")
        );
    }
    for last in [1, 50, 700, 1300] {
        let filter = SeriesFilter {
            benchmarks: vec!["parse".into()],
            metric: None,
        };
        let found = &store.series(&filter, last).unwrap()[0].last;
        let expected: Vec<_> = history.iter().map(|entry| entry.point).collect();
        assert_eq!(
            found.as_slice(),
            &expected[1201usize.saturating_sub(last)..]
        );
    }
    let info = store.info().unwrap();
    assert_eq!((info.series, info.points, info.records), (2, 2401, 1201));
    assert!(
        info.point_bytes < 40 * 2401,
        "{} bytes: nothing was sealed",
        info.point_bytes
    );
}

pub(crate) fn a_series_begins_where_it_is_asked_to(place: &Place) {
    let mut store = place.store();
    let drafts: Vec<Draft> = (0..600).map(|n| draft(&[("parse", n as f64)], n)).collect();
    store.save_all(&drafts).unwrap();
    let number = series(&mut store, "parse");
    let mut from = |since: Since| -> Vec<f64> {
        store
            .points(number, &since)
            .unwrap()
            .iter()
            .map(|point| point.value)
            .collect()
    };
    assert_eq!(from(Since::Time(hour(598))), [598.0, 599.0]);
    assert_eq!(from(Since::Time(hour(10))).len(), 590);
    assert!(from(Since::Time(hour(600))).is_empty());
    let these: HashSet<String> = [3, 599, 1000].map(|n| format!("{n:040x}")).into();
    assert_eq!(from(Since::Revisions(these)), [3.0, 599.0]);
}

pub(crate) fn a_changed_environment_opens_a_segment(place: &Place) {
    let mut store = place.store();
    for (hours, kernel) in ["Linux 6.18", "Linux 6.19", "Linux 6.18"]
        .into_iter()
        .enumerate()
    {
        let text = bench(&[("parse", 1.0)], hour(hours as i64), kernel);
        assert_eq!(store.save(&Draft::of(text).unwrap()).unwrap().warnings, []);
    }
    let number = series(&mut store, "parse");
    let points = store.points(number, &Since::Start).unwrap();
    let segments: Vec<i64> = points.iter().map(|point| point.environment).collect();
    assert!(
        segments[0] != segments[1] && segments[0] == segments[2],
        "{segments:?}"
    );
    assert_eq!(
        store.environments().unwrap()[&segments[1]]["kernel"],
        "Linux 6.19"
    );
}

pub(crate) fn a_clock_that_was_set_back_is_said_and_points_stay_sorted(place: &Place) {
    let mut store = place.store();
    // The last record is in the next year.
    let future = 24 * 365 + (fathom_store::date::now() - hour(0)) / 3_600_000;
    let drafts: Vec<Draft> = (100..699)
        .map(|n| draft(&[("parse", n as f64)], n))
        .chain([draft(&[("parse", 699.0)], future)])
        .collect();
    store.save_all(&drafts).unwrap();
    let saved = store.save(&draft(&[("parse", 50.0)], 50)).unwrap();
    let [Warning::ClockJumpedBack { now, before }] = saved.warnings[..] else {
        panic!("{:?}", saved.warnings)
    };
    assert!(now < before && before == hour(future), "{now} {before}");
    assert!(saved.new && saved.warnings[0].to_string().contains("clock was set back"));
    let all = values(&mut store, "parse");
    assert_eq!((all.len(), all[0], all[600]), (601, 50.0, 699.0));
    let last = &store.series(&SeriesFilter::default(), 2).unwrap()[0].last;
    assert_eq!(
        last.iter().map(|point| point.value).collect::<Vec<_>>(),
        [698.0, 699.0]
    );
}

pub(crate) fn a_renamed_benchmark_keeps_its_history(place: &Place) {
    let mut store = place.store();
    store.save(&draft(&[("old", 1.0)], 1)).unwrap();
    assert_eq!(store.rename("old", "new").unwrap(), 1);
    store.save(&draft(&[("new", 2.0)], 2)).unwrap();
    store.save(&draft(&[("old", 3.0)], 3)).unwrap(); // an old branch
    assert_eq!(values(&mut store, "new"), [1.0, 2.0, 3.0]);
    assert_eq!(
        values(&mut store, "old"),
        [1.0, 2.0, 3.0],
        "asked for by its old name"
    );

    // A benchmark that was measured under both names before it was renamed.
    store.save(&draft(&[("newest", 4.0)], 4)).unwrap();
    store.rename("new", "newest").unwrap();
    store.save(&draft(&[("old", 5.0)], 5)).unwrap();
    assert_eq!(values(&mut store, "newest"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    let renamed = [("new", "newest"), ("old", "newest")].map(|(old, new)| (old.into(), new.into()));
    assert_eq!(store.info().unwrap().renamed, renamed);

    store.rename("newest", "old").unwrap(); // back again
    assert_eq!(values(&mut store, "old").len(), 5);
    assert!(matches!(
        store.rename("nobody", "x"),
        Err(Error::NotFound { .. })
    ));
    assert!(matches!(
        store.rename("old", "old"),
        Err(Error::Rename { .. })
    ));
}

pub(crate) fn two_benchmarks_of_one_record_stay_two(place: &Place) {
    let mut store = place.store();
    store
        .save(&draft(&[("a", 1.0), ("b", 2.0), ("a", 3.0)], 1))
        .unwrap();
    let refused = store.rename("a", "b").unwrap_err().to_string();
    assert!(refused.contains("one record contains both"), "{refused}");
    assert_eq!(values(&mut store, "b"), [2.0], "nothing was half done");
    let filter = SeriesFilter {
        benchmarks: vec!["a".into()],
        metric: None,
    };
    let twice = store.series(&filter, 1).unwrap();
    assert_eq!(twice.len(), 2, "the same command twice in a session");
    assert_eq!(twice[1].parameters, [("place".to_owned(), "2".to_owned())]);
}

pub(crate) fn values_of_two_units_are_two_series(place: &Place) {
    let import = |unit: &str, value: f64, hours: i64| {
        let text = json!({"schema_version": 2, "kind": "imported", "fathom_version": "1",
            "started_at": date::text(hour(hours)), "time_from_file": true, "environment": {},
            "revision": null, "left_out": [], "source": {"tool": "x", "version": null, "file": "-"},
            "benchmarks": [{"name": "a", "parameters": {}, "metric": "score", "unit": unit,
                "direction": null, "samples": [value]}]});
        Draft::of(text.to_string()).unwrap()
    };
    let mut store = place.store();
    for (unit, value, hours) in [
        ("frames", 60.0, 1),
        ("points", 4e6, 2),
        ("frames", 61.0, 3),
        ("points", 5e6, 4),
    ] {
        store.save(&import(unit, value, hours)).unwrap();
    }
    let found = store.series(&SeriesFilter::default(), 0).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    for (unit, expected) in [("frames", [60.0, 61.0]), ("points", [4e6, 5e6])] {
        let own = found.iter().find(|one| one.unit == unit).unwrap();
        let points = store.points(own.number, &Since::Start).unwrap();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        assert_eq!(values, expected, "{unit}");
    }
    let apart = found.iter().find(|one| one.unit == "points").unwrap();
    let unit = ("unit".to_owned(), "points".to_owned());
    assert_eq!(apart.parameters, [unit]);
}

pub(crate) fn labels_are_given_and_taken(place: &Place) {
    let mut store = place.store();
    for hours in 1..4 {
        store.save(&draft(&[("parse", 1.0)], hours)).unwrap();
    }
    let all = store.records(&Selector::All).unwrap();
    assert_eq!(store.tag(&all[..2], "good", false).unwrap(), 2);
    let good = store.find("good").unwrap();
    assert_eq!(store.tag(&good, "good", false).unwrap(), 0);
    assert_eq!(
        good.iter().map(|head| head.time).collect::<Vec<_>>(),
        [hour(3), hour(2)]
    );
    assert_eq!(store.records(&Selector::Labelled(9)).unwrap(), good);
    assert_eq!(store.records(&Selector::Labelled(1)).unwrap(), good[..1]);
    assert_eq!(store.tag(&good[..1], "good", true).unwrap(), 1);
    assert_eq!(store.find("good").unwrap(), good[1..]);
    assert_eq!(store.info().unwrap().labels, 1);
}

pub(crate) fn pruning_takes_runs_and_leaves_points(place: &Place) {
    let mut store = place.store();
    for hours in 0..6 {
        let mut one = draft(&[("parse", hours as f64)], hours);
        one.labels = if hours == 1 {
            vec!["v1".into()]
        } else {
            vec![]
        };
        store.save(&one).unwrap();
    }
    store.save(&draft(&[("rare", 1.0)], 0)).unwrap();
    let mut times = |which: Prune| -> Vec<i64> {
        store
            .prunable(&which)
            .unwrap()
            .iter()
            .map(|head| head.time)
            .collect()
    };
    let before = Some(hour(3));
    assert!(times(Prune::default()).is_empty());
    assert_eq!(
        times(Prune {
            before,
            ..Prune::default()
        }),
        [hour(0), hour(0), hour(2)]
    );
    assert_eq!(
        times(Prune {
            keep: Some(4),
            ..Prune::default()
        }),
        [hour(0)],
        "the label stays"
    );
    assert_eq!(
        times(Prune {
            keep: Some(4),
            labelled: true,
            ..Prune::default()
        }),
        [hour(0), hour(1)]
    );
    let both = Prune {
        before,
        keep: Some(5),
        labelled: true,
    };
    let first = store.prunable(&both).unwrap();
    assert_eq!(first.len(), 1);
    store.prune(&first).unwrap();
    assert_eq!(store.prunable(&both).unwrap(), []);

    let head = &store.find(&first[0].id).unwrap()[0];
    assert!(head.pruned.is_some() && head.revision == first[0].revision);
    let gone = store.record(head).unwrap_err();
    assert!(matches!(gone, Error::Pruned { .. }) && gone.to_string().contains("points are kept"));
    assert_eq!(values(&mut store, "parse"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(store.info().unwrap().pruned, 1);
}

pub(crate) fn a_bundle_moves_everything(place: &Place) {
    let mut store = place.store();
    store.save(&draft(&[("old", 1.0)], 1)).unwrap();
    store.rename("old", "new").unwrap();
    let mut second = draft(&[("new", 2.0)], 2);
    second.labels = vec!["v2".into()];
    store.save(&second).unwrap();
    let first = store.find("@-2").unwrap();
    store.prune(&first).unwrap();

    let all = store.records(&Selector::All).unwrap();
    let mut bundle = Vec::new();
    store.bundle(&all, "all.bundle", &mut bundle).unwrap();

    let elsewhere = Place::file();
    let mut other = elsewhere.store();
    // The same benchmark was also measured in the other store, under its old name.
    other.save(&draft(&[("old", 3.0)], 3)).unwrap();
    let loaded = other.load("all.bundle", bundle.as_slice()).unwrap();
    assert_eq!(
        (loaded.new, loaded.known, loaded.not_renamed.len()),
        (2, 0, 0)
    );
    assert_eq!(values(&mut other, "new"), [1.0, 2.0, 3.0]);
    let moved = other.find("v2").unwrap();
    assert_eq!(other.record(&moved[0]).unwrap(), second.text);
    assert_eq!(moved[0].revision, second.revision);
    let pruned = other.find(&all[1].id).unwrap();
    assert_eq!(
        (pruned[0].pruned, &pruned[0].revision),
        (all[1].pruned, &all[1].revision)
    );

    let again = other.load("all.bundle", bundle.as_slice()).unwrap();
    assert_eq!((again.new, again.known), (0, 2));
    // In the other direction, only the record from that store is new.
    let mut back = Vec::new();
    let all = other.records(&Selector::All).unwrap();
    other.bundle(&all, "b", &mut back).unwrap();
    let loaded = store.load("b", back.as_slice()).unwrap();
    assert_eq!((loaded.new, loaded.known), (1, 2));
    assert_eq!(values(&mut store, "new"), [1.0, 2.0, 3.0]);
}

pub(crate) fn a_bundle_that_was_cut_or_changed_is_refused(place: &Place) {
    let mut store = place.store();
    store.save(&draft(&[("parse", 1.0)], 1)).unwrap();
    let mut bundle = Vec::new();
    let all = store.records(&Selector::All).unwrap();
    store.bundle(&all, "b", &mut bundle).unwrap();
    let elsewhere = Place::file();
    let mut other = elsewhere.store();
    let mut refused = |bytes: &[u8]| other.load("some.bundle", bytes).unwrap_err().to_string();
    for cut in [0, 5, bundle.len() / 2, bundle.len() - 9] {
        let said = refused(&bundle[..cut]);
        assert!(
            said.starts_with("some.bundle is not a complete Fathom bundle"),
            "{cut}: {said}"
        );
    }
    let repacked = |change: &dyn Fn(String) -> String| {
        use std::io::{Read, Write};
        let mut text = String::new();
        flate2::read::GzDecoder::new(bundle.as_slice())
            .read_to_string(&mut text)
            .unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(change(text).as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let changed = refused(&repacked(&|text| {
        text.replace("\\\"value\\\":1.0", "\\\"value\\\":0.5")
    }));
    assert!(changed.contains("was changed"), "{changed}");
    let newer = refused(&repacked(&|text| {
        text.replace("{\"fathom_bundle\":1}", "{\"fathom_bundle\":9}")
    }));
    assert!(newer.contains("update Fathom"), "{newer}");
    assert!(refused(b"text").contains("not a complete Fathom bundle"));
    // Refused bundles: a line of 100 MB in 500 kB, too many values, and an invalid id of a record without its
    // text.
    let before_end = |more: String| {
        let changed = |text: String| text.replace("{\"end\"", &format!("{more}{{\"end\""));
        repacked(&changed)
    };
    let grown = refused(&before_end(" ".repeat(100 << 20)));
    assert!(
        grown.contains("MB, which is too large for such a small file"),
        "{grown}"
    );
    let many = refused(&before_end(format!("[{}0]", "0,".repeat(6_000_000))));
    assert!(many.contains("too many values"), "{many}");
    for id in ["", "abc", "é"] {
        let said = refused(&repacked(&|_| {
            let left = json!({"pruned": 1, "kind": "bench", "time": i64::MAX, "environment": {}, "seed": null,
                "fathom_version": "", "points": []});
            let entry = json!({"record": {"id": id, "revision": null, "labels": [], "command": "", "inputs": [],
                "text": null, "left": left}});
            format!("{{\"fathom_bundle\":1}}\n{entry}\n{{\"end\":{{\"records\":1}}}}\n")
        }));
        assert!(said.contains("is not the id of a record"), "{said}");
    }
    assert_eq!(other.info().unwrap().records, 0);
}

pub(crate) fn writers_at_once_lose_nothing(place: &Place) {
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                let mut store = place.store(); // they also race to create it
                for n in 0..6 {
                    let own = format!("of {writer}");
                    let value = f64::from(writer * 100 + n);
                    store
                        .save(&draft(&[("common", value), (&own, value)], i64::from(n)))
                        .unwrap();
                }
            });
        }
    });
    let mut store = place.store();
    assert_eq!(values(&mut store, "common").len(), 48);
    assert_eq!(
        values(&mut store, "of 7"),
        [700.0, 701.0, 702.0, 703.0, 704.0, 705.0]
    );
    assert_eq!(store.info().unwrap().series, 9);
}

/// Returns drafts that are not in order: some have equal times, times that go backwards, and known or unknown
/// commits. The commits are made at hour 1, 2, 3, ...
fn mixed() -> Vec<Draft> {
    let known = |value: f64, hours: i64, commit: i64| {
        let mut known = draft(&[("parse", value)], hours);
        known.committed = Some(hour(commit));
        known
    };
    let unknown = |value: f64, hours: i64| draft(&[("parse", value)], hours);
    vec![
        known(6.0, 10, 3),
        unknown(8.0, 10),
        unknown(9.0, 10),
        known(2.0, 11, 1),
        known(3.0, 11, 1),
        known(1.0, 9, 1),
        unknown(4.0, 2),
        known(5.0, 50, 2),
        unknown(7.0, 5),
    ]
}

const MIXED: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

pub(crate) fn records_stand_by_commit_then_time_then_as_they_were_saved(place: &Place) {
    let mut store = place.store();
    for one in mixed() {
        store.save(&one).unwrap();
    }
    assert_eq!(values(&mut store, "parse"), MIXED);
    let newest = &store.series(&SeriesFilter::default(), 4).unwrap()[0].last;
    let newest: Vec<f64> = newest.iter().map(|point| point.value).collect();
    assert_eq!(newest, MIXED[5..]);
    let keep = Prune {
        keep: Some(6),
        ..Prune::default()
    };
    let prunable = store.prunable(&keep).unwrap();
    let all = store.records(&Selector::All).unwrap();
    let last: Vec<_> = all.into_iter().rev().take(3).collect();
    assert_eq!(prunable, last, "the first of the same list");
}

/// Returns all output that depends on an order.
fn tables(store: &mut Store) -> String {
    let number = series(store, "parse");
    let history = store.history(number, &Since::Start).unwrap();
    let points: Vec<_> = (history.iter())
        .map(|entry| (entry.point.value, entry.record.id.clone()))
        .collect();
    let ids = |heads: Vec<fathom_store::Head>| -> Vec<String> {
        heads.into_iter().map(|head| head.id).collect()
    };
    let newest = store.series(&SeriesFilter::default(), 7).unwrap();
    let newest: Vec<Vec<f64>> = (newest.iter())
        .map(|one| one.last.iter().map(|point| point.value).collect())
        .collect();
    let keep = Prune {
        keep: Some(3),
        ..Prune::default()
    };
    let last = ids(store.find("@-1").unwrap());
    let all = ids(store.records(&Selector::All).unwrap());
    let prunable = ids(store.prunable(&keep).unwrap());
    format!("{points:?} {newest:?} {last:?} {all:?} {prunable:?}")
}

pub(crate) fn measurements_that_overlap_say_nothing_of_the_clock(place: &Place) {
    let mut store = place.store();
    let measured = |value, minutes_ago: i64| {
        let time = fathom_store::date::now() - minutes_ago * 60_000;
        let text = bench(&[("parse", value)], time, "Linux 6.18");
        Draft::measured(text).unwrap()
    };
    // The record that started first was saved last.
    let (long, short) = (measured(1.0, 5), measured(2.0, 2));
    assert_eq!(store.save(&short).unwrap().warnings, []);
    assert_eq!(store.save(&long).unwrap().warnings, []);
    assert_eq!(values(&mut store, "parse"), [2.0, 1.0]);
}

pub(crate) fn a_copy_has_the_same_order(place: &Place) {
    let copy = |from: &mut Store, to: &mut Store| {
        let mut bundle = Vec::new();
        let all = from.records(&Selector::All).unwrap();
        from.bundle(&all, "b", &mut bundle).unwrap();
        to.load("b", bundle.as_slice()).unwrap();
    };
    let (first, last) = (Place::file(), Place::file());
    let (mut first, mut middle, mut last) = (first.store(), place.store(), last.store());
    for one in mixed() {
        first.save(&one).unwrap();
    }
    // The clock was set back: this record was measured just now, but with an earlier time than the existing
    // ones.
    let mut back = draft(&[("parse", 51.0)], 49);
    back.is_new = true;
    first.save(&back).unwrap();
    back = draft(&[("parse", 52.0)], 48);
    back.is_new = true;
    first.save(&back).unwrap();
    let expected: Vec<f64> = MIXED.into_iter().chain([51.0, 52.0]).collect();
    assert_eq!(values(&mut first, "parse"), expected);
    // There are more points with the same time, so that they are sealed in the copy.
    let many: Vec<Draft> = (0..450)
        .map(|n| {
            let mut one = draft(&[("parse", 100.0 + n as f64)], 61 + n % 3);
            one.committed = (n % 2 == 0).then_some(hour(60 + n % 4));
            one
        })
        .collect();
    first.save_all(&many).unwrap();
    copy(&mut first, &mut middle);
    copy(&mut middle, &mut last);
    let tables = [&mut first, &mut middle, &mut last].map(tables);
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}
