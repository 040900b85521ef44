//! Detects commands that the terminal has stopped.
//!
//! Commands run in their own groups, so that whole process trees can be killed. To the terminal, these are
//! background groups: it stops them when they read from it or change its settings.

use std::fs;

/// Reports whether this process has a terminal.
pub(super) fn is_there() -> bool {
    fs::File::open("/dev/tty").is_ok()
}

/// Reports whether this process is stopped and not in its terminal's foreground.
pub(super) fn has_stopped(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| is_held(&stat))
}

fn is_held(stat: &str) -> bool {
    // The name may contain any characters, including parentheses.
    let Some((_, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    let fields: Vec<&str> = fields.split(' ').collect();
    let [state, _parent, group, _session, terminal, foreground, ..] = fields[..] else {
        return false;
    };
    state == "T" && terminal != "0" && foreground != group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_stopped_in_the_background_of_a_terminal_is_held_by_it() {
        let stat = |state: &str, terminal: i32, foreground: i32| {
            format!("77 (a) b) {state} 1 77 20 {terminal} {foreground} 4194304 0 0")
        };
        assert!(is_held(&stat("T", 34816, 20)));
        assert!(!is_held(&stat("S", 34816, 20)), "it waits");
        assert!(!is_held(&stat("T", 34816, 77)), "it is in the foreground");
        assert!(
            !is_held(&stat("T", 0, -1)),
            "no terminal: someone else stopped it"
        );
        assert!(!is_held("77"));
    }

    #[test]
    fn by_a_changed_stat_only_who_is_stopped_is_held() {
        let mut held = 0;
        for text in crate::mutated::mutated_text("77 (a) b) T 1 77 20 34816 20 4194304 0 0\n") {
            if is_held(&text) {
                held += 1;
                assert!(text.contains(") T "), "{text:?}");
            }
        }
        assert!(held > 0);
    }
}
