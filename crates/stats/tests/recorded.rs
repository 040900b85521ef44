//! Tests the same promises on recorded runs of a real machine, with shuffled labels.

mod simulate;

use simulate::{Random, claim, share, upper_limit};

struct Session {
    more_work: u32,
    reference: Vec<f64>,
    subject: Vec<f64>,
}

fn sessions() -> Vec<Session> {
    let lines = include_str!("recorded.txt").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ').skip(1);
            let more_work = words.next().unwrap().parse().unwrap();
            let (reference, subject) = words
                .map(|pair| {
                    let (a, b) = pair.split_once(',').unwrap();
                    (a.parse::<f64>().unwrap(), b.parse::<f64>().unwrap())
                })
                .unzip();
            Session {
                more_work,
                reference,
                subject,
            }
        })
        .collect()
}

#[test]
fn recorded_runs_of_one_program_are_told_apart_in_one_of_a_hundred_sessions_at_most() {
    let mut random = Random::new(21);
    let identical: Vec<Session> = sessions()
        .into_iter()
        .filter(|session| session.more_work == 0)
        .collect();
    assert_eq!(identical.len(), 30);
    let mut at = 0;
    let claims = share(3_000, || {
        let session = &identical[at % identical.len()];
        at += 1;
        // Swaps the sides at random, as if the round had run in the other order.
        let (a, b): (Vec<f64>, Vec<f64>) = session
            .reference
            .iter()
            .zip(&session.subject)
            .map(|(a, b)| if random.coin() { (*a, *b) } else { (*b, *a) })
            .unzip();
        claim(&a, &b).is_some()
    });
    assert!(claims <= upper_limit(0.01, 3_000), "{claims}");
}

#[test]
fn two_percent_more_work_is_found_on_a_busy_machine() {
    let claims: Vec<Option<bool>> = sessions()
        .iter()
        .filter(|session| session.more_work == 2)
        .map(|session| claim(&session.reference, &session.subject))
        .collect();
    let found = claims.iter().filter(|claim| **claim == Some(true)).count();
    assert!(found >= 9, "{claims:?}");
    assert!(!claims.contains(&Some(false)), "{claims:?}");
}
