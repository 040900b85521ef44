//! `import`: turns measurements of other tools into records.

mod facts;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use fathom_exchange::{Error, Imported, Values};
use fathom_model::{ImportedRecord, SCHEMA_VERSION};
use fathom_store::date;

use crate::ConductError;

/// The maximum number of values in all files of one call together, which take 200 MB.
const MOST_VALUES: usize = 25_000_000;

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct ImportPlan {
    /// Files and folders; `-` is standard input.
    pub sources: Vec<PathBuf>,
    /// The format of all sources, by its name in `exchange`; if absent, each is detected.
    pub format: Option<String>,
    /// Whether to continue with the other sources if one can't be read.
    pub keep_going: bool,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The name of the file.
    pub file: String,
    /// The reason, as a sentence.
    pub why: String,
}

/// The imported records, and the files that were skipped.
#[derive(Debug, Default)]
pub struct Imports {
    /// One record for each file, and one for each folder written by a tool.
    pub records: Vec<ImportedRecord>,
    /// Files that could not be read, if that didn't end the import.
    pub refused: Vec<Refused>,
    /// The number of files in folders that have no known format, such as reports and images.
    pub of_no_format: usize,
}

/// Reads all sources; `input` is standard input. Unless `keep_going` is set, either all sources are read or
/// none.
///
/// # Errors
/// If a source can't be read; with `keep_going`, only if no source can be read.
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
                // A README next to the results is not an error by the user.
                Error::Unknown(_) | Error::Own | Error::Empty(_) => of_no_format += 1,
                error => self.add(file, Err(error))?,
            }
        }
        self.imports.of_no_format += of_no_format;
        if self.imports.records.len() == before && self.imports.refused.is_empty() {
            let why = match of_no_format {
                0 => "the folder contains no files".to_owned(),
                _ => format!(
                    "none of its files ({of_no_format}) has a known format; the formats are {}",
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
            let why = "this file would bring the total to more than 25,000,000 numbers; import the files one at a time";
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
                true => "; nothing was imported; --keep-going imports the other files",
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
