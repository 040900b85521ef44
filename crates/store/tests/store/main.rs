//! Tests the store. SQLite and PostgreSQL both run `cases`.

mod cases;
mod extraction;
mod files;
mod git;
mod hostile;
mod older_forms;
mod server;
mod servers;
mod support;
mod writers;

/// Runs every case. Each case is a separate test on SQLite. On PostgreSQL, which takes seconds to start, all
/// cases are a single test.
macro_rules! on_both {
    ($($case:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test]
            fn $case() {
                crate::cases::$case(&crate::support::Place::file());
            })*
        }

        #[test]
        fn on_postgresql() {
            use crate::server::Places as _;
            let Some(server) = crate::server::Server::start() else { return };
            let cases: &[(&str, fn(&support::Place))] = &[$((stringify!($case), cases::$case)),*];
            let mut failed = Vec::new();
            for (name, case) in cases {
                let place = server.place(name);
                let run = std::panic::AssertUnwindSafe(|| case(&place));
                if std::panic::catch_unwind(run).is_err() {
                    failed.push(*name);
                }
            }
            drop(server);
            assert!(failed.is_empty(), "failed on PostgreSQL: {failed:?}");
        }
    };
}

on_both! {
    a_store_is_made_only_where_one_is_wanted,
    a_record_comes_back_as_it_was_saved,
    what_is_saved_twice_is_there_once,
    series_come_with_their_newest_points,
    points_stay_the_same_when_they_are_sealed,
    a_series_begins_where_it_is_asked_to,
    a_changed_environment_opens_a_segment,
    a_clock_that_was_set_back_is_said_and_points_stay_sorted,
    measurements_that_overlap_say_nothing_of_the_clock,
    a_renamed_benchmark_keeps_its_history,
    two_benchmarks_of_one_record_stay_two,
    values_of_two_units_are_two_series,
    labels_are_given_and_taken,
    pruning_takes_runs_and_leaves_points,
    records_stand_by_commit_then_time_then_as_they_were_saved,
    a_copy_has_the_same_order,
    a_bundle_moves_everything,
    a_bundle_that_was_cut_or_changed_is_refused,
    writers_at_once_lose_nothing,
}
