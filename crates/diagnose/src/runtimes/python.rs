//! Python.

use fathom_model::ThreadRole;

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::modules::Modules;
use super::work::{WORK, Work};
use super::{BASE, Habit, Runtime, Topic};

pub(super) const PYTHON: Runtime = Runtime {
    programs: &["python", "pypy"],
    habits: &[Habit::GlobalLock, Habit::Interprets],
    library: Library {
        call: 300.0,
        path: 600.0,
        start: 200e3,
        thread: 20e3,
        parse: 15.0,
        parse_settings: 60.0,
        ..Library::UNKNOWN
    },
    modules: Modules::Compiled {
        compiled: ".pyc",
        source: ".py",
        cache: "__pycache__",
    },
    line_option: Some("-u"),
    sources: &[
        "<frozen ",
        "/lib/python3",
        "/site-packages/",
        "/dist-packages/",
    ],
    functions: &[(
        Use::Clock,
        Names {
            beginnings: &[
                "_PyTime_",
                "time_perf_counter",
                "time_monotonic",
                "time_time",
            ],
            ..NAMES
        },
    )],
    work: &[Work {
        role: ThreadRole::Collector,
        changed_by: &["gc.freeze()", "gc.set_threshold()"],
        functions: Names {
            whole: &[
                "subtract_refs",
                "visit_decref",
                "move_unreachable",
                "deduce_unreachable",
                "untrack_tuples",
            ],
            beginnings: &["gc_collect", "_PyGC_Collect", "PyGC_Collect", "_Py_RunGC"],
            ..NAMES
        },
        ..WORK
    }],
    words: |topic| {
        Some(match topic {
            Topic::Output {
                by_variable: true, ..
            } => {
                "`PYTHONUNBUFFERED` is set in the environment, which makes each print a call: unset it, and flush \
                 only where a reader waits for a line. (Each `os.write` is a call in any case: collect the pieces.)"
            }
            Topic::Output { lines: false, .. } => {
                "Write to `sys.stdout` or `sys.stdout.buffer`; remove `-u`, `PYTHONUNBUFFERED`, and `buffering=0` \
                 or `buffering=1`."
            }
            Topic::Output { lines: true, .. } => {
                "Remove `flush=True`, `-u`, `PYTHONUNBUFFERED`, and `buffering=1` (or `buffering=0`)."
            }
            Topic::Input { .. } => {
                "Read `sys.stdin.buffer`, and avoid `buffering=0` and `os.read` of few bytes."
            }
            Topic::Stream => {
                "Read a socket through `sock.makefile('rb')`, which has a buffer; avoid `buffering=0` (or \
                 `bufsize=0`) and `os.read` of few bytes elsewhere."
            }
            Topic::File {
                writes: false,
                reopened: false,
            } => "Read larger blocks; avoid `buffering=0`, and `os.read` of few bytes.",
            Topic::File {
                writes: true,
                reopened: false,
            } => "Avoid `buffering=0` or `buffering=1` and `flush`, or write larger blocks.",
            Topic::Sources => {
                "Let Python keep its compiled files: unset `PYTHONDONTWRITEBYTECODE`, make the folders writable, or \
                 compile once after installation (`python3 -m compileall`)."
            }
            Topic::Start => {
                "Import only modules that are used, and where they are used (`python -X importtime` names the slow \
                 ones)."
            }
            Topic::Threads => {
                "Submit the work to a `ThreadPoolExecutor`, some hundred pieces at a time."
            }
            Topic::Processes { copies: true } => {
                "Keep the workers and give them one item after another (`multiprocessing.Pool`, without \
                 `maxtasksperchild`)."
            }
            Topic::Processes { copies: false } => {
                "Call a function of the library instead of a program for each item, or pass all items to one \
                 program."
            }
            Topic::Lock => {
                "Compute outside of the lock. If it is the interpreter's own (the GIL), threads can't compute in \
                 parallel, and the gain is an upper limit: use processes (`multiprocessing`, \
                 `ProcessPoolExecutor`), or a free-threaded build of Python (3.13 or later)."
            }
            Topic::ClockCalls => {
                "Read the clock less often, and use `time.perf_counter` or `time.monotonic`, which need no call, \
                 not `process_time`, `thread_time` or `resource.getrusage`."
            }
            Topic::ClockReads => {
                "Read the clock less often: once for many pieces of work, not before and after each."
            }
            _ => return None,
        })
    },
    ..BASE
};
