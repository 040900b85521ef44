//! Explanations of waits for a lock: which thread held it, and where in the code.

use std::process::Command;

use serde_json::Value;

use crate::world::{allows, text, why};

/// One thread holds a lock until it sees that the other thread is asleep, which can only be due to the lock.
/// The threads take turns, so neither only waits.
const PROGRAM: &str = r#"#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static atomic_int begun;
static int sleeps(int tid) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) exit(1);
    fclose(file);
    return state == 'S';
}
__attribute__((noinline)) void hold(int other) {
    pthread_mutex_lock(&lock);
    atomic_store(&begun, 1);
    while (atomic_load(&begun) == 1) sched_yield();
    while (!sleeps(other)) usleep(100);
    usleep(1000);
    pthread_mutex_unlock(&lock);
    __asm__ volatile("");
}
__attribute__((noinline)) void take(void) {
    while (atomic_load(&begun) == 0) sched_yield();
    atomic_store(&begun, 2);
    pthread_mutex_lock(&lock);
    atomic_store(&begun, 0);
    pthread_mutex_unlock(&lock);
    __asm__ volatile("");
}
static int tids[2];
static void *work(void *which) {
    int own = which != 0;
    tids[own] = gettid();
    pthread_barrier_wait(&both);
    for (int round = 0; round < 80; round++) {
        if (round % 2 == own) hold(tids[!own]); else take();
        pthread_barrier_wait(&both);
    }
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&thread, 0, work, &both);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn a_lock_is_called_after_who_held_it_and_where() {
    if !allows("kernel") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("lock.c"), folder.path().join("lock"));
    std::fs::write(&source, PROGRAM).unwrap();
    let built = Command::new("cc")
        .args(["-O1", "-g", "-pthread", "-o", text(&program), text(&source)])
        .status();
    match built {
        Ok(status) => assert!(status.success()),
        Err(error) => return fathom_test_log::skipped(&format!("no C compiler: {error}")),
    }
    let line = PROGRAM
        .lines()
        .position(|line| line.contains("pthread_mutex_unlock"))
        .unwrap()
        + 1;
    let held = format!("lock held by hold (lock.c:{line})");
    // Call stacks are sampled: on a busy machine, a run may have no stack of the code that released the lock.
    let mut found = None;
    let mut rows = Value::Null;
    for _ in 0..5 {
        rows = why("kernel", &[], &[text(&program)])["where"].clone();
        let all = rows.as_array().unwrap();
        found = all
            .iter()
            .find(|row| row["object"] == held.as_str())
            .cloned();
        if found.is_some() {
            break;
        }
    }
    let lock = found.unwrap_or_else(|| panic!("{rows:#}"));
    assert_eq!(lock["call"], "futex");
    let function = lock["function"].as_str().unwrap_or_default();
    assert!(function.contains("lock"), "{lock}");
    let is_take = |caller: &Value| caller["function"] == "take";
    assert!(
        lock["callers"].as_array().unwrap().iter().any(is_take),
        "{lock}"
    );
}
