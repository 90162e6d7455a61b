//! Conformance tests: every engine has to pass the same tests.

mod cases;
mod model;
mod nodes;
mod storage;

use cases::*;
use model::whatever_is_done_it_is_as_the_model_says;
use storage::{DatabaseTestStorage, FilesTestStorage};

/// Instantiates each test for both engines.
macro_rules! over_both {
    ($($test:ident),* $(,)?) => {
        mod files {
            $(#[test] fn $test() { super::$test::<super::FilesTestStorage>(); })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test::<super::DatabaseTestStorage>(); })*
        }
    };
}

over_both! {
    an_id_counts_once_whatever_becomes_of_its_batch,
    records_of_blocks_are_found_in_the_open_batch,
    other_bytes_under_an_id_are_refused_until_it_is_released,
    batches_are_told_as_they_are,
    a_batch_is_closed_once,
    what_is_released_stays_and_is_forgotten_when_told,
    a_batch_that_is_released_without_reports_keeps_none,
    tasks_come_change_and_go,
    task_log_follows_the_tasks_over_restarts,
    all_is_there_after_a_restart,
    whoever_reads_may_stop,
    whatever_is_done_it_is_as_the_model_says,
}
