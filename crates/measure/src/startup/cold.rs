//! Takes a program's files out of memory.

use crate::MeasureError;

/// Makes the next run of a program a cold one.
pub trait Chill {
    /// Takes its files out of memory, as far as that goes.
    ///
    /// # Errors
    /// When the means is refused altogether; single files that stay are no error.
    fn chill(&mut self, program: usize) -> Result<(), MeasureError>;
}
