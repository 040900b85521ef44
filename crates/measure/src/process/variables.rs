//! The environment of a run: Fathom's own, the command's, and the number of the round.

use std::io;
use std::os::unix::ffi::OsStrExt;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::launcher::Block;
use crate::{CommandLine, Iteration};

/// Returns the number of bytes by which the environment of a round's runs is enlarged: up to a page,
/// depending on the session's seed.
pub(super) fn padding(seed: u64, round: u32) -> usize {
    let seed = seed ^ (u64::from(round) << 32);
    SmallRng::seed_from_u64(seed).random_range(0..Block::MOST_FILLED)
}

/// Returns the variables that give a run its number, and the variables that only take up space.
pub(crate) fn name_run(
    block: &mut Block,
    iteration: Iteration,
    padding: Option<usize>,
) -> io::Result<()> {
    block.clear();
    let number = iteration.to_string();
    block.push(&[b"FATHOM_ITERATION=", number.as_bytes()])?;
    block.push(&[b"HYPERFINE_ITERATION=", number.as_bytes()])?;
    if let Some(length) = padding {
        block.push(&[b"FATHOM_RANDOMIZED_ENVIRONMENT_OFFSET="])?;
        block.fill(length);
    }
    Ok(())
}

/// Returns Fathom's own environment with the command's variables in it, as `NAME=value`.
pub(crate) fn environment_of(command: &CommandLine) -> Vec<Vec<u8>> {
    let all = command.environment();
    all.iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect()
}
