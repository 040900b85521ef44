//! `import`: what other tools measured, as records.

mod facts;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use fathom_exchange::{Error, Imported, Values};
use fathom_model::{ImportedRecord, SCHEMA_VERSION};
use fathom_store::date;

use crate::ConductError;

/// All files of one call together, in numbers: 200 MB.
const MOST_VALUES: usize = 25_000_000;

/// What is to be read.
#[derive(Debug, Clone, Default)]
pub struct ImportPlan {
    /// Files and folders; `-` is standard input.
    pub sources: Vec<PathBuf>,
    /// The format of all of them, by the name that `exchange` gives it; else each is recognised.
    pub format: Option<String>,
    /// Read the others where one can't be read.
    pub keep_going: bool,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub file: String,
    /// Why, a sentence.
    pub why: String,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Imports {
    /// One record for each file, and for each folder that a tool writes.
    pub records: Vec<ImportedRecord>,
    /// Files that could not be read, if they did not end it.
    pub refused: Vec<Refused>,
    /// Files in folders that are of no format: reports, pictures.
    pub of_no_format: usize,
}

/// Reads all sources; `input` is standard input. All or nothing, unless it is to keep going.
///
/// # Errors
/// The first source that can't be read; with `keep_going`, only if nothing could.
pub fn import(plan: &ImportPlan, input: &mut dyn BufRead) -> Result<Imports, ConductError> {
    let mut found = Found {
        plan,
        imports: Imports::default(),
        values: 0,
    };
    for source in &plan.sources {
        found.source(source, input)?;
    }
    let imports = found.imports;
    if let ([], [first, ..]) = (&imports.records[..], &imports.refused[..]) {
        return Err(refusal(first, ""));
    }
    Ok(imports)
}

fn refusal(refused: &Refused, end: &str) -> ConductError {
    let file = match refused.file.as_str() {
        "-" => "standard input",
        file => file,
    };
    ConductError::Refused(format!("{file}: {}{end}", refused.why))
}

struct Found<'p> {
    plan: &'p ImportPlan,
    imports: Imports,
    values: usize,
}

impl Found<'_> {
    fn source(&mut self, source: &Path, input: &mut dyn BufRead) -> Result<(), ConductError> {
        let name = source.display().to_string();
        let format = self.plan.format.as_deref();
        if name == "-" {
            let read = fathom_exchange::read_all(input, &name, format);
            return self.add(name, read);
        }
        if source.is_dir() {
            return self.folder(source, &name);
        }
        let read = fathom_store::regular::open(source)
            .map_err(Error::Io)
            .and_then(|file| {
                fathom_exchange::read_all(BufReader::with_capacity(1 << 16, file), &name, format)
            });
        self.add(name, read)
    }

    fn folder(&mut self, folder: &Path, name: &str) -> Result<(), ConductError> {
        let format = self.plan.format.as_deref();
        let entries = match fathom_exchange::walk(folder) {
            Ok(entries) => entries,
            Err(error) => return self.add(name.to_owned(), Err(error)),
        };
        let found = fathom_exchange::read_folder(&entries, name, format);
        let before = self.imports.records.len();
        for imported in found.imported {
            self.add(imported.source.file.clone(), Ok(vec![imported]))?;
        }
        let mut of_no_format = 0;
        for (file, error) in found.refused {
            match error {
                // A README beside results is no mistake of who imports them.
                Error::Unknown(_) | Error::Own | Error::Empty(_) => of_no_format += 1,
                error => self.add(file, Err(error))?,
            }
        }
        self.imports.of_no_format += of_no_format;
        if self.imports.records.len() == before && self.imports.refused.is_empty() {
            let why = match of_no_format {
                0 => "the folder holds no file".to_owned(),
                _ => format!(
                    "none of its files ({of_no_format}) is of a known format; formats: {}",
                    fathom_exchange::names().join(", ")
                ),
            };
            return self.refuse(Refused {
                file: name.to_owned(),
                why,
            });
        }
        Ok(())
    }

    fn add(
        &mut self,
        file: String,
        read: Result<Vec<Imported>, Error>,
    ) -> Result<(), ConductError> {
        let all = match read {
            Ok(all) => all,
            Err(error) => {
                let why = error.to_string();
                return self.refuse(Refused { file, why });
            }
        };
        self.values += all.iter().map(numbers).sum::<usize>();
        if self.values > MOST_VALUES {
            let why =
                "with the files before it more than 25,000,000 numbers; import them one by one";
            return self.refuse(Refused {
                file,
                why: why.to_owned(),
            });
        }
        self.imports.records.extend(all.into_iter().map(record));
        Ok(())
    }

    fn refuse(&mut self, refused: Refused) -> Result<(), ConductError> {
        if !self.plan.keep_going {
            let end = match self.plan.sources.len() > 1 || !self.imports.records.is_empty() {
                true => "; nothing was imported, with --keep-going the other files are",
                false => "",
            };
            return Err(refusal(&refused, end));
        }
        self.imports.refused.push(refused);
        Ok(())
    }
}

fn numbers(imported: &Imported) -> usize {
    let of = |values: &Values| match values {
        Values::Samples(samples) => samples.len(),
        Values::Summary(_) => 12,
    };
    let each = imported.benchmarks.iter();
    each.map(|one| of(&one.values) + one.iterations.len()).sum()
}

pub(crate) fn record(imported: Imported) -> ImportedRecord {
    let said = facts::of(&imported.source.environment);
    ImportedRecord {
        schema_version: SCHEMA_VERSION,
        kind: "imported".to_owned(),
        fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: date::text(said.time.unwrap_or_else(date::now)),
        time_from_file: said.time.is_some(),
        revision: said.revision,
        environment: said.environment,
        source: imported.source,
        benchmarks: imported.benchmarks,
        left_out: imported.left_out,
    }
}
