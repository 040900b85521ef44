//! Native call stacks: from copied stacks and registers to named frames.
//!
//! Nothing here observes a process: bytes and files in, frames out. [`Files`] numbers the mappings.
//! [`Unwinder`] turns a sample into a [`Chain`] of [`Place`]s, which are stored in a [`Tree`]. After the last
//! run, [`named`] turns the tree into a [`StackTree`] of [`Frame`]s.

mod bounded;
mod build_notes;
mod cfi;
mod code;
mod debug_files;
mod demangle;
mod dwarf;
mod files;
mod go_table;
#[cfg(test)]
mod hostile;
mod image;
mod java_class;
mod java_methods;
mod made_name;
mod mapped;
mod package;
mod perf_map;
mod plt;
mod probes;
pub mod python;
mod registers;
mod symbol_table;
mod symbols;
mod tree;
mod unwind;

pub use code::{Code, functions_named};
pub use files::{Files, NOWHERE, VDSO, is_file, is_made_at_run_time};
pub use java_class::source_of_method;
pub use java_methods::{JavaMethods, interpreted_in, may_be_interpreted};
pub use package::package_of_symbols;
pub use perf_map::{map_of, number_inside};
pub use registers::Registers;
pub use symbols::{functions_at, named, named_tree};
pub use tree::{Frame, Node, Reach, StackTree, Tree};
pub use unwind::{Chain, Mapping, Place, Unwinder};

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: fathom_test_memory::Counting = fathom_test_memory::Counting;
