//! Parses any text: it is either refused with places in it, or an experiment that can be planned.
#![no_main]

use std::path::Path;

use fathom_experiment::file::parse::parse;
use fathom_experiment::resolve::Scope;
use fathom_experiment::select::Selection;
use fathom_experiment::{check, plan, session};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let read = parse(Path::new("experiment.toml"), text);
    let checked = read.and_then(|experiment| check::check(&experiment).map(|()| experiment));
    match checked {
        Ok(experiment) => {
            let folders = session::folders(&experiment, Path::new("work")).expect("absolute");
            let scope = Scope {
                experiment: &experiment,
                folders: &folders,
                quick: true,
            };
            let all = Selection::all(&experiment);
            plan::plan(&scope, &all, true).expect("a checked file has a plan");
        }
        Err(error) => {
            for problem in &error.problems {
                assert!(text.get(problem.span.clone()).is_some());
            }
            let _ = error.to_string();
        }
    }
});
