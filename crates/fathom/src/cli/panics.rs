//! What the standard library panics about, though it is no defect.

use std::panic::PanicHookInfo;

use crate::cli::failure::UNTRUSTED;
use crate::cli::out::say;

/// How the standard library begins where there can be no further thread.
const NO_THREAD: &str = "failed to spawn thread";

/// Has a thread that can't be made, wherever that is, end Fathom by a sentence and an exit code.
/// What it has started ends with it.
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
