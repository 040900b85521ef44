//! Java and other languages of the JVM.

use fathom_model::ThreadRole;

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::modules::Modules;
use super::names::AskedFor;
use super::work::{WORK, Work};
use super::{BASE, Habit, Runtime, ThreadNames, Topic};

pub(super) const JAVA: Runtime = Runtime {
    programs: &["java"],
    habits: &[Habit::HandsOverByYields, Habit::FillsItsHeap],
    library: Library {
        call: 200.0,
        path: 200.0,
        start: 200e3,
        thread: 20e3,
        collect: 0.1,
        parse: 12.0,
        parse_settings: 12.0,
        ..Library::UNKNOWN
    },
    thread_names: Some(ThreadNames {
        pool: "pool-",
        first_of_pool: "-thread-1",
        unnamed: "Thread",
    }),
    modules: Modules::Files {
        ends: &[".jar", ".class", "/lib/modules"],
        of_runtime: Some(&["/jvm/", "/lib/modules"]),
        path_options: &["-cp", "-classpath", "--class-path"],
    },
    names: Some(AskedFor {
        // Java before version 17 has no such map, and refuses to start without the first option.
        options: &[
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+DumpPerfMapAtExit",
            "-XX:+PreserveFramePointer",
        ],
        variable: "JDK_JAVA_OPTIONS",
        starters: &["mvn", "mvnw", "gradle", "gradlew", "sbt", "kotlin", "scala"],
        engines: &["libjvm.so"],
        is_called: |_| false,
    }),
    owns: |name| {
        ["java.", "javax.", "jdk.", "sun.", "com.sun."]
            .iter()
            .any(|package| name.starts_with(package))
    },
    functions: &[
        (
            // Java's monitors spin while they check whether the holder is running.
            Use::Contended,
            Names {
                parts: &[
                    "ObjectMonitor::TrySpin",
                    "SpinPause",
                    "SafeFetch32_impl",
                    "SafeFetchN_impl",
                ],
                ..NAMES
            },
        ),
        (
            Use::Start,
            Names {
                whole: &["thread_native_entry"],
                ..NAMES
            },
        ),
        (
            Use::Spins,
            Names {
                parts: &["/libjvm.so"],
                ..NAMES
            },
        ),
    ],
    work: &[
        Work {
            role: ThreadRole::Collector,
            changed_by: COLLECTS,
            threads: COLLECTORS,
            ..WORK
        },
        Work {
            role: ThreadRole::Collector,
            changed_by: COLLECTS,
            threads: &["VM Thread"],
            // If there is no collector thread, the VM operations thread collects garbage.
            unless_beside: COLLECTORS,
            ..WORK
        },
        Work {
            role: ThreadRole::Compiler,
            changed_by: &["-XX:TieredStopAtLevel", "-XX:CICompilerCount"],
            threads: &["C1 Comp", "C2 Comp", "JVMCI"],
            ..WORK
        },
        Work {
            threads: &[
                "VM ",
                "Reference Handl",
                "Finalizer",
                "Signal Dispatch",
                "Common-Cleaner",
                "Sweeper thread",
                "Service Thread",
                "Monitor Deflati",
                "Notification Th",
                "Attach Listener",
            ],
            ..WORK
        },
    ],
    touching: &[(
        "-XX:+AlwaysPreTouch",
        "Don't use `-XX:+AlwaysPreTouch` for short runs, or start with a smaller heap (`-Xms`): it is for servers \
         that must not wait for memory later.",
    )],
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "`var out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out)));`: print to it, and close it at the end."
            }
            Topic::Output { lines: true, .. } => {
                "`var out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out)));`: `System.out` flushes each line."
            }
            Topic::Input { .. } => {
                "`var in = new BufferedInputStream(System.in);`, or a `BufferedReader` for lines."
            }
            Topic::Stream => "Wrap it in a `BufferedInputStream` or `BufferedReader`.",
            Topic::File {
                writes: false,
                reopened: false,
            } => {
                "Put a `BufferedInputStream` around the file; read blocks into an array from a `RandomAccessFile`."
            }
            Topic::File {
                writes: true,
                reopened: false,
            } => {
                "Put a `BufferedOutputStream` around the file; write blocks from an array to a `RandomAccessFile`."
            }
            Topic::Threads => {
                "Submit the work to an executor (`Executors.newFixedThreadPool`), or to virtual threads (Java 21)."
            }
            Topic::Lock => {
                "Compute outside of the lock (`synchronized`, or one of `java.util.concurrent`), and hold it only \
                 to store the result. If it is a barrier (`CyclicBarrier`), give each thread an equal piece."
            }
            Topic::ClockCalls => {
                "Read the clock less often, and use `System.nanoTime`, which needs no call, not the CPU times of \
                 threads (`ThreadMXBean`)."
            }
            _ => return None,
        })
    },
    ..BASE
};

const COLLECTORS: &[&str] = &[
    "GC Thread",
    "G1 ",
    "ParGC Thread",
    "Gang worker",
    "Concurrent Mark",
    "ZDirector",
    "ZDriver",
    "ZWorker",
    "XDriver",
    "XWorker",
    "Shenandoah",
];

const COLLECTS: &[&str] = &["-Xmx", "-XX:+UseParallelGC", "-XX:+UseG1GC"];
