//! Reports of `fathom machine` and its check: terminal and page.

mod check;
mod curves;
mod figure;
mod html;
mod table;
mod terminal;

pub use check::{machine_check_sentence, machine_check_terminal};
pub use figure::machine_figure;
pub use html::machine_html;
pub use terminal::{MachineOptions, machine_terminal};
