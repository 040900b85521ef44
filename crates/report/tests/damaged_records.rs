//! Reads whole records from damaged JSON: each is either refused, or read and can be written again.

mod experimented;
mod explained;
mod fingerprinted;
#[path = "../../model/tests/mutated/mod.rs"]
mod mutated;
mod piped;
mod started;
mod support;

use mutated::mutated;
use serde::{Serialize, de::DeserializeOwned};
use support::program::Program;

/// Returns how many of 400 damaged forms of `record` can be read.
fn read<T: Serialize + DeserializeOwned>(record: &T, seed: u64) -> usize {
    let valid = serde_json::to_string(record).expect("it can be written");
    mutated(&valid, seed, 400)
        .filter_map(|text| serde_json::from_str::<T>(&text).ok())
        .filter(|read| {
            let text = serde_json::to_string(read).expect("what was read can be written");
            serde_json::from_str::<T>(&text).is_ok()
        })
        .count()
}

#[test]
fn no_damage_to_a_record_stops_its_reader() {
    let programs = [Program::new("a", 0.04), Program::new("b", 0.03)];
    let counts = [
        read(&support::session(&programs, 3), 1),
        read(&explained::findings(), 2),
        read(&piped::delayed(), 3),
        read(&started::full(), 4),
        read(&experimented::record(), 5),
    ];
    for count in counts {
        assert!((1..400).contains(&count), "{counts:?}");
    }
}
