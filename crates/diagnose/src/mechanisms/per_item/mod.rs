//! Detects costs that are paid for each item, although a batch could share them.

pub(crate) mod below;
pub(crate) mod builds;
pub(crate) mod call_cost;
pub(crate) mod checked;
pub(crate) mod clocks;
pub(crate) mod collecting;
pub(crate) mod connections;
pub(crate) mod growing;
pub(crate) mod kernel;
pub(crate) mod library_work;
pub(crate) mod lookups;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod prepared;
pub(crate) mod signals;
pub(crate) mod stopping;
pub(crate) mod streams;
#[cfg(test)]
mod tests;
pub(crate) mod tiny_files;
