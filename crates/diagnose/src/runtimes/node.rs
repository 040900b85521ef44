//! JavaScript on Node.

use fathom_model::ThreadRole;

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::modules::Modules;
use super::names::AskedFor;
use super::work::{WORK, Work};
use super::{BASE, Habit, Runtime, Topic};

pub(super) const NODE: Runtime = Runtime {
    programs: &["node", "nodejs"],
    habits: &[Habit::MovesWork, Habit::OneThread],
    tasks: "`Worker` threads",
    engine_ns: Some((5e6, 30e6)),
    library: Library {
        call: 300.0,
        path: 300.0,
        // Node's streams pass each piece through several layers.
        console: Some(1500.0),
        start: 800e3,
        thread: 6e3,
        collect: 0.1,
        parse: 12.0,
        parse_settings: 12.0,
    },
    modules: Modules::Packages {
        ends: &[".js", ".mjs", ".cjs", ".node"],
        description: "/package.json",
    },
    names: Some(AskedFor {
        // With these options, unlike with `--perf-basic-prof` alone, Node doesn't write a log into its
        // current folder.
        options: &[
            "--perf-basic-prof-only-functions",
            "--interpreted-frames-native-stack",
        ],
        variable: "NODE_OPTIONS",
        starters: &["npm", "npx", "pnpm", "yarn", "corepack"],
        engines: &["libnode.so"],
        is_called: |name| name.contains("Prototype") || name.starts_with("v8::internal::Builtin_"),
    }),
    sources: &["node:", "/node_modules/"],
    functions: &[(
        Use::Collector,
        Names {
            parts: &[
                "Scaveng",
                "MarkCompact",
                "Marking",
                "Sweeper",
                "Evacuat",
                "v8::internal::Heap::",
            ],
            within: "v8::internal::",
            ..NAMES
        },
    )],
    work: &[
        Work {
            role: ThreadRole::Collector,
            changed_by: &["--max-semi-space-size", "--max-old-space-size"],
            functions: Names {
                parts: &[
                    "::Scaveng",
                    "MarkCompact",
                    "::ConcurrentMarking",
                    "::IncrementalMarking",
                    "::Sweeper",
                    "Evacuat",
                    "::Heap::CollectGarbage",
                    "::Heap::PerformGarbageCollection",
                    "::MinorMarkSweep",
                ],
                within: "v8::internal::",
                ..NAMES
            },
            ..WORK
        },
        Work {
            role: ThreadRole::Compiler,
            functions: Names {
                parts: &[
                    "v8::internal::compiler::",
                    "v8::internal::maglev::",
                    "v8::internal::baseline::",
                    "v8::internal::OptimizingCompileDispatcher",
                    "v8::internal::Compiler::",
                ],
                ..NAMES
            },
            ..WORK
        },
        Work {
            role: ThreadRole::Pool,
            changed_by: &["UV_THREADPOOL_SIZE"],
            threads: &["libuv-worker"],
            ..WORK
        },
        // Node's worker threads collect garbage and compile.
        Work {
            changed_by: &["--v8-pool-size"],
            threads: &["V8Worker", "node-V8", "DelayedTaskSche"],
            functions: Names {
                parts: &["PlatformWorkerThread"],
                ..NAMES
            },
            ..WORK
        },
    ],
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "`process.stdout.cork()` before the pieces and `uncork()` after them, or collect them and write blocks."
            }
            Topic::Output { lines: true, .. } => {
                "`console.log` into a file makes a call for each line: collect lines and write blocks."
            }
            Topic::Input { .. } => {
                "Read `process.stdin` as a stream, or `fs.readFileSync(0)`; give `fs.readSync` a buffer of 64 KiB."
            }
            Topic::Stream => "Read it as a stream, chunk by chunk.",
            Topic::File {
                writes: false,
                reopened: false,
            } => "Read blocks of 64 KiB, or use a stream.",
            Topic::File {
                writes: true,
                reopened: false,
            } => "Collect the pieces and write blocks, or use a stream.",
            Topic::Start => {
                "Bundle the modules into one file, and require rarely used modules where they are used."
            }
            Topic::Objects { .. } => {
                "Create fewer objects in the loop: reuse them, work on a Buffer or typed array instead of splitting \
                 strings; `--max-semi-space-size` makes collections of young objects rarer."
            }
            Topic::ClockCalls => {
                "Read the clock less often, and use `performance.now`, which needs no call, not `process.cpuUsage`."
            }
            _ => return None,
        })
    },
    ..BASE
};
