//! Opens the input of an observed command.

use fathom_trace::Io;

use crate::{Input, MeasureError};

/// Returns standard input for an observed run, opened as for a timed one.
///
/// # Errors
/// If the file can't be opened, or the wait for a FIFO's writer was interrupted.
pub fn traced_input(input: &Input) -> Result<Io, MeasureError> {
    match input {
        Input::Null => Ok(Io::Null),
        Input::File(path) => Ok(Io::Fd(crate::input::open(path)?.into())),
    }
}
