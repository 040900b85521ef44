//! Reports of `fathom why`: a screen of text, a page with a picture, JSON and Markdown.

mod account;
pub(crate) mod bar;
mod code_name;
mod difference;
mod document;
mod findings;
mod flames;
pub(crate) mod html;
mod lanes;
mod markdown;
mod own_code;
mod page_data;
mod paths;
mod processes;
mod profile;
mod proof;
mod quote;
mod sarif;
mod server;
mod startup;
mod summary;
mod tables;
mod terminal;
mod verdict;
mod whereabouts;
mod words;

pub(crate) use difference::difference_answer;
pub use difference::{difference_html, difference_parts, difference_terminal, difference_whole};
pub use html::explain_html;
pub use markdown::explain_markdown;
pub use profile::{ProfileForm, profile};
pub(crate) use proof::{line as proof, slope_line};
pub(crate) use quote::{could_save, share_text, time};
pub use sarif::explain_sarif;
pub(crate) use server::of_server;
pub(crate) use summary::whole_seconds;
pub use terminal::{WhyOptions, explain_terminal};

pub(crate) use verdict::verdict;

pub(crate) use markdown::{plain as markdown_text, with_code as markdown_with_code};
