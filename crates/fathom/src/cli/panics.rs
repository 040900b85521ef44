//! Handles panics of the standard library that aren't bugs.

use std::panic::PanicHookInfo;

use crate::cli::failure::UNTRUSTED;
use crate::cli::out::say;

/// The beginning of the standard library's message if no more threads can be created.
const NO_THREAD: &str = "failed to spawn thread";

/// Makes Fathom exit with a message and an exit code if a thread can't be created anywhere. The processes
/// that it started end with it.
pub(super) fn turn_into_errors() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if message(info).is_some_and(|text| text.starts_with(NO_THREAD)) {
            say!("error: {}", fathom_measure::NO_FURTHER_THREAD);
            std::process::exit(UNTRUSTED);
        }
        usual(info);
    }));
}

fn message<'i>(info: &'i PanicHookInfo<'_>) -> Option<&'i str> {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
}
