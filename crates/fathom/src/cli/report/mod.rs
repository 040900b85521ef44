//! `fathom report`: shows measurements as a page or a site.

mod arguments;

use std::path::Path;

pub(super) use arguments::Arguments;
use fathom_conduct::ReportPlan;
use fathom_report::{self as pages};

use crate::cli::failure::{Failure, usage};
use crate::cli::write;

/// Reads the measurements and writes the page or the site. Returns the exit code.
///
/// # Errors
/// If there is nothing to read, or a file or folder can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.html])?;
    if let Some(folder) = arguments.site.as_deref()
        && folder.exists()
        && !folder.is_dir()
    {
        return usage(format!(
            "--site {} is a file; choose a folder",
            folder.display()
        ));
    }
    let plan = ReportPlan {
        store: arguments.read.store.clone(),
        asked: arguments.asked.clone(),
        metric: arguments.metric.clone(),
        base: arguments.base.clone(),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let report = fathom_conduct::report(&plan, &here)?;
    if let Some(path) = &arguments.html {
        write::export(path, pages::report_html(&report))?;
    }
    if let Some(folder) = &arguments.site {
        let (files, changed) = site(folder, &pages::report_site(&report))?;
        let text = format!("{files} files in {}, {changed} changed\n", folder.display());
        if !arguments.html.as_deref().is_some_and(write::is_stdout) {
            write::print(&text)?;
        }
    }
    Ok(0)
}

/// Writes the pages whose file has different content. Returns the number of pages and how many of them were
/// written.
fn site(folder: &Path, pages: &[(String, String)]) -> Result<(usize, usize), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::Write {
        path: folder.to_path_buf(),
        error,
    })?;
    let mut changed = 0;
    for (name, text) in pages {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|known| known == text.as_bytes()) {
            continue;
        }
        write::export(&path, text)?;
        changed += 1;
    }
    Ok((pages.len(), changed))
}
