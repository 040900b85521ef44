//! Recognises and reads one file.

use std::io::{BufRead, Read};

use crate::collector::Collector;
use crate::error::Error;
use crate::table::{FORMATS, Format, Reader, names};
use crate::utf16;
use fathom_model::imported::{Imported, LeftOut};

/// The maximum size of a document, in bytes; larger ones are refused. Line formats may have any size.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;
/// The number of leading bytes that are inspected to recognise a format; `pytest-codspeed` writes 60 kB
/// before its first result.
const HEAD: u64 = 1 << 20;

/// Reads one file. `file` is its name in the record, and `format` is the value of `--format`. If the file is
/// a history, only its newest measurement is returned.
pub fn read(input: impl BufRead, file: &str, format: Option<&str>) -> Result<Imported, Error> {
    let all = read_all(input, file, format)?;
    let last = all.len().saturating_sub(1);
    let mut kept = newest(all, |at, _| at == last);
    kept.pop().ok_or(Error::Empty("the file"))
}

/// Reads one file. From a history, only the newest commit is read, with a record for each of its
/// measurements.
pub fn read_commit(
    input: impl BufRead,
    file: &str,
    format: Option<&str>,
) -> Result<Vec<Imported>, Error> {
    let all = read_all(input, file, format)?;
    let commit = |one: &Imported| one.source.environment.get("commit_hash").cloned();
    let (last, wanted) = (all.len().saturating_sub(1), all.last().and_then(commit));
    Ok(newest(all, |at, one| {
        at == last || (wanted.is_some() && commit(one) == wanted)
    }))
}

/// Returns the wanted records of a history; the last one notes how many others there were.
fn newest(all: Vec<Imported>, is_wanted: impl Fn(usize, &Imported) -> bool) -> Vec<Imported> {
    let count = all.len();
    let wanted = all.into_iter().enumerate();
    let wanted = wanted.filter(|(at, one)| is_wanted(*at, one));
    let mut kept: Vec<Imported> = wanted.map(|(_, one)| one).collect();
    let others = (count - kept.len()) as u64;
    if let Some(last) = kept.last_mut().filter(|_| others > 0) {
        last.left_out.push(LeftOut {
            what: "earlier measurements".to_owned(),
            reason: "the file is a history; its newest measurement is used".to_owned(),
            count: others,
        });
    }
    kept
}

/// Reads one file. Returns a record for each measurement of a history, newest last; for any other file,
/// returns a single record.
pub fn read_all(
    input: impl BufRead,
    file: &str,
    format: Option<&str>,
) -> Result<Vec<Imported>, Error> {
    let mut input = utf16::decoded(input)?;
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let format = match format {
        Some(name) => Format::named(name)?,
        None => recognised(&head)?,
    };
    let mut collector = Collector::new(format.tool);
    match format.reader {
        Reader::Lines(lines) => lines(&mut head.chain(input), &mut collector)?,
        Reader::Document(document) => {
            input.take(LARGEST_DOCUMENT + 1).read_to_end(&mut head)?;
            if head.len() as u64 > LARGEST_DOCUMENT {
                let name = format.name;
                return Err(Error::TooLarge(format!(
                    "{name}: larger than 64 MB; it can't be read in parts"
                )));
            }
            document(&head, &mut collector)?;
        }
    }
    collector.finish_all(file)
}

fn recognised(head: &[u8]) -> Result<&'static Format, Error> {
    let found = FORMATS
        .iter()
        .filter(|format| format.can_read(head))
        .collect::<Vec<_>>();
    match found[..] {
        [one] => Ok(one),
        [] if crate::lines::find(head, b"\"fathom_version\"").is_some() => Err(Error::Own),
        [] if head.is_empty() => Err(Error::Empty("the file")),
        [] => Err(Error::Unknown(names())),
        _ => Err(Error::Ambiguous(
            found.iter().map(|format| format.name).collect(),
        )),
    }
}
