//! All interventions, one file each.

mod bind_now;
mod c_locale;
mod files_in_memory;
mod free_cpus;
mod go_collects_less;
mod huge_pages;
mod input_ready;
mod java_more_heap;
mod join_calls;
mod keep_memory;
mod larger_pipes;
mod missing_files;
mod no_delay;
mod no_fsync;
mod no_limit;
mod no_sleep;
mod no_wrapper;
mod node_compiled;
mod nothing;
mod one_arena;
mod one_cpu;
mod one_math_thread;
mod other_allocator;
mod output_taken;
mod python_buffered;
mod python_bytecode;
mod slower_polls;
mod time_zone;
mod warm_files;

use super::Intervention;

/// All interventions. Among those that fit a finding, earlier ones are tried first.
pub static ALL: &[Intervention] = &[
    no_sleep::INTERVENTION,
    no_fsync::INTERVENTION,
    python_buffered::INTERVENTION,
    join_calls::INTERVENTION,
    missing_files::INTERVENTION,
    no_delay::INTERVENTION,
    input_ready::INTERVENTION,
    output_taken::INTERVENTION,
    larger_pipes::INTERVENTION,
    no_wrapper::INTERVENTION,
    python_bytecode::INTERVENTION,
    node_compiled::INTERVENTION,
    java_more_heap::INTERVENTION,
    go_collects_less::INTERVENTION,
    keep_memory::INTERVENTION,
    huge_pages::INTERVENTION,
    other_allocator::INTERVENTION,
    one_arena::INTERVENTION,
    c_locale::INTERVENTION,
    time_zone::INTERVENTION,
    one_math_thread::INTERVENTION,
    bind_now::INTERVENTION,
    slower_polls::INTERVENTION,
    free_cpus::INTERVENTION,
    no_limit::INTERVENTION,
    one_cpu::INTERVENTION,
    warm_files::INTERVENTION,
    files_in_memory::INTERVENTION,
    nothing::INTERVENTION,
];
