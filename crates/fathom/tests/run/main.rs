//! `fathom run`: whole experiments with small programs. No test depends on how fast anything is.

mod catalogue;
mod ended;
mod judged;
mod materials;
mod served;
mod world;
