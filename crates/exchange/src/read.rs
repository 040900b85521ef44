//! One file: recognise it, read it.

use std::io::{BufRead, Read};

use crate::collector::Collector;
use crate::error::Error;
use crate::table::{FORMATS, Format, Reader, names};
use crate::utf16;
use fathom_model::imported::{Imported, LeftOut};

/// A larger document is refused; line formats may have any size.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;
/// So much of a file is looked at to recognise it: what `pytest-codspeed` writes before its first result is 60 kB.
const HEAD: u64 = 1 << 20;

/// Reads one file; `file` is its name for the record, `format` is what `--format` says. Of a history it is the
/// newest commit.
pub fn read(input: impl BufRead, file: &str, format: Option<&str>) -> Result<Imported, Error> {
    let mut all = read_all(input, file, format)?;
    let mut last = all.pop().ok_or(Error::Empty("the file"))?;
    if !all.is_empty() {
        last.left_out.push(LeftOut {
            what: "earlier commits".to_owned(),
            reason: "the file is a history, of which the newest commit is taken".to_owned(),
            count: all.len() as u64,
        });
    }
    Ok(last)
}

/// Reads one file: a record for each commit of a history, the newest last, else one.
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
