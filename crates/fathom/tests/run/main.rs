//! `fathom run`: whole experiments with small programs. No test depends on speed.

mod catalogue;
mod ended;
mod judged;
mod materials;
mod served;
mod world;
