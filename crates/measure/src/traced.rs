//! What does a command read from when it is observed?

use std::fs::File;

use fathom_trace::Io;

use crate::{Input, MeasureError};

/// Standard input of an observed run, opened as for a timed one.
///
/// # Errors
/// When the file can't be opened.
pub fn traced_input(input: &Input) -> Result<Io, MeasureError> {
    match input {
        Input::Null => Ok(Io::Null),
        Input::File(path) => match File::open(path) {
            Ok(file) => Ok(Io::Fd(file.into())),
            Err(error) => Err(MeasureError::Input {
                path: path.clone(),
                error,
            }),
        },
    }
}
