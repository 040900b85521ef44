//! Reads folders: the trees of criterion and asv are one result each; any other file is a result of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::ops::Bound;
use std::path::Path;

use serde_json::Value;

use crate::collector::Collector;
use crate::error::{Error, malformed};
use crate::formats::{asv, cargo_criterion::per_iteration, critcmp};
use crate::json::{document, list, name, word};
use crate::read::{LARGEST_DOCUMENT, read_all};
use fathom_model::PLACE;
use fathom_model::imported::Imported;

/// The maximum number of files, which is more than any tree of results has.
const MOST_FILES: usize = 100_000;
/// The maximum size of all files of a folder together, in bytes.
const MOST_BYTES: u64 = 200 << 20;

/// A file in a folder, with its path and its content.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The path below the folder, with `/` as the separator.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// The result of reading a folder.
#[derive(Debug)]
pub struct Folder {
    /// The results read.
    pub imported: Vec<Imported>,
    /// Files of unknown formats, and files that couldn't be read, with the reason.
    pub refused: Vec<(String, Error)>,
}

/// Returns the files below a folder, sorted, without following links. This is the only function of this
/// module that does I/O.
pub fn walk(folder: &Path) -> Result<Vec<Entry>, Error> {
    let mut folders = vec![(folder.to_owned(), String::new())];
    let (mut entries, mut total) = (Vec::new(), 0);
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                let mut bytes = Vec::new();
                std::fs::File::open(entry.path())?
                    .take(LARGEST_DOCUMENT + 1)
                    .read_to_end(&mut bytes)?;
                total += bytes.len() as u64;
                entries.push(Entry { path, bytes });
            }
            if entries.len() + folders.len() > MOST_FILES || total > MOST_BYTES {
                return Err(Error::TooLarge(format!(
                    "the folder holds more than {MOST_FILES} files or 200 MB"
                )));
            }
        }
    }
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(entries)
}

/// Reads the files of a folder; `folder` is its name in the records.
pub fn read_folder(entries: &[Entry], folder: &str, format: Option<&str>) -> Folder {
    let files: BTreeMap<&str, &[u8]> = entries
        .iter()
        .map(|entry| (entry.path.as_str(), &entry.bytes[..]))
        .collect();
    let mut used = BTreeSet::new();
    let mut results = Vec::new();
    if format.is_none() {
        results.extend(criterion(&files, &mut used).map(|read| (folder.to_owned(), read)));
        results.extend(asv_tree(&files, folder, &mut used));
    }
    let finished = |(file, read): (String, Collected)| {
        let imported = read.and_then(|collector| collector.finish(&file));
        (file, imported.map(|one| vec![one]))
    };
    let mut results: Vec<(String, Result<Vec<Imported>, Error>)> =
        results.into_iter().map(finished).collect();
    for (path, bytes) in files.iter().filter(|(path, _)| !used.contains(*path)) {
        let file = format!("{}/{path}", folder.trim_end_matches('/'));
        let read = read_all(*bytes, &file, format);
        results.push((file, read));
    }
    let mut all = Folder {
        imported: Vec::new(),
        refused: Vec::new(),
    };
    for (file, read) in results {
        match read {
            Ok(imported) => all.imported.extend(imported),
            Err(error) => all.refused.push((file, error)),
        }
    }
    all
}

type Collected = Result<Box<Collector>, Error>;

type Files<'a> = BTreeMap<&'a str, &'a [u8]>;

/// Reads criterion's tree: `BENCHMARK/BASELINE/{benchmark,sample,estimates,tukey}.json`.
fn criterion<'a>(files: &Files<'a>, used: &mut BTreeSet<&'a str>) -> Option<Collected> {
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in files.keys() {
        let Some(run) = path.strip_suffix("/sample.json") else {
            continue;
        };
        if files.contains_key(format!("{run}/benchmark.json").as_str()) {
            let (benchmark, baseline) = run.rsplit_once('/').unwrap_or(("", run));
            runs.entry(benchmark).or_default().push(baseline);
        }
    }
    if runs.is_empty() {
        return None;
    }
    let mut out = Collector::new("criterion");
    for (benchmark, baselines) in &runs {
        let result = one(files, benchmark, baselines, &mut out);
        if let Err(error) = result {
            return Some(Err(malformed(format!("criterion: {benchmark}: {error}"))));
        }
        let below = if benchmark.is_empty() {
            String::new()
        } else {
            format!("{benchmark}/")
        };
        let start = (Bound::Included(below.as_str()), Bound::Unbounded);
        for path in files
            .range::<str, _>(start)
            .map(|(path, _)| *path)
            .take_while(|path| path.starts_with(&below))
        {
            let Some((baseline, file)) = path[below.len()..].split_once('/') else {
                continue;
            };
            let known = matches!(
                file,
                "benchmark.json" | "sample.json" | "estimates.json" | "tukey.json" | "raw.csv"
            );
            if known && (baselines.contains(&baseline) || baseline == "change") {
                used.insert(path);
                match (baseline, file) {
                    ("change", _) => out.left_out("change", "a comparison, not a measurement"),
                    (_, "estimates.json" | "tukey.json") => {
                        out.left_out(file, "computed from the samples, which are kept");
                    }
                    (_, "raw.csv") => out.left_out(file, "the samples again"),
                    _ => {}
                }
            }
        }
    }
    Some(Ok(Box::new(out)))
}

/// Reads one baseline. `new` is always the last run, and `base` the one before it; other baselines were saved
/// under a name.
fn one(
    files: &Files,
    benchmark: &str,
    baselines: &[&str],
    out: &mut Collector,
) -> Result<(), Error> {
    let last = baselines.contains(&"new");
    let file = |baseline: &str, name: &str| {
        let path = [benchmark, baseline, name];
        let parts = path.into_iter().filter(|part| !part.is_empty());
        let path = parts.collect::<Vec<_>>().join("/");
        files.get(path.as_str()).copied().unwrap_or_default()
    };
    for baseline in baselines {
        let what = document(file(baseline, "benchmark.json"))?;
        let bytes = file(baseline, "sample.json");
        let reason = match *baseline {
            "base" if last => Some("an earlier run; only the last one, 'new', is kept"),
            other if last && other != "new" && bytes == file("new", "sample.json") => {
                Some("the same run as 'new'")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let what = format!("{} / {baseline}", name(&what, "full_id")?);
            out.left_out(what, reason);
            continue;
        }
        let sample = document(bytes)?;
        let mut measure = critcmp::measure(&what, out)?;
        if let Some(place) = place(&what) {
            measure = measure.parameter(PLACE, place);
        }
        let measure = match *baseline {
            "new" => measure,
            baseline => measure.parameter("baseline", baseline),
        };
        per_iteration(out, measure, list(&sample, "times"), list(&sample, "iters"));
    }
    Ok(())
}

/// Returns the place that distinguishes benchmarks with the same name. It appears only in the titles of the
/// second and later ones: `encode #2`.
fn place(what: &Value) -> Option<&str> {
    let (_, place) = word(what, "title")?.rsplit_once(" #")?;
    let is_of_name =
        word(what, "full_id").is_some_and(|name| name.ends_with(&format!(" #{place}")));
    (place.parse::<u32>().is_ok() && !is_of_name).then_some(place)
}

/// Reads asv's `results`: `benchmarks.json`, and a folder for each machine.
fn asv_tree<'a>(
    files: &Files<'a>,
    folder: &str,
    used: &mut BTreeSet<&'a str>,
) -> Vec<(String, Collected)> {
    let mut results = Vec::new();
    for (path, bytes) in files {
        if !asv::can_read(bytes) {
            continue;
        }
        let mut parts = path.split('/').collect::<Vec<_>>();
        let machine = parts
            .len()
            .checked_sub(2)
            .map(|at| [&parts[..=at], &["machine.json"]].concat().join("/"));
        parts.truncate(parts.len().saturating_sub(2));
        parts.push("benchmarks.json");
        let known = files.get_key_value(parts.join("/").as_str());
        let machine = machine.and_then(|machine| files.get_key_value(machine.as_str()));
        used.insert(path);
        used.extend(known.map(|(path, _)| *path));
        used.extend(machine.map(|(path, _)| *path));
        let mut out = Collector::new("asv");
        let read = known.map_or(Ok(Value::Null), |(_, bytes)| document(bytes));
        let read = read.and_then(|known| asv::with(bytes, &known, &mut out));
        let file = format!("{}/{path}", folder.trim_end_matches('/'));
        results.push((file, read.map(|()| Box::new(out))));
    }
    results
}
