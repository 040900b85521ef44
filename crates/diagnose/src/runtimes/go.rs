//! Go.

use fathom_model::ThreadRole;

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::work::{WORK, Work};
use super::{BASE, Habit, Runtime, Topic};

pub(super) const GO: Runtime = Runtime {
    habits: &[Habit::MovesWork],
    tasks: "goroutines",
    // Idle threads rest in the call that Go's locks use, and nap or yield while they search for work.
    idle_calls: &[
        "futex",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sched_yield",
    ],
    library: Library {
        call: 120.0,
        path: 120.0,
        start: 100e3,
        thread: 6e3,
        collect: 0.2,
        parse: 12.0,
        parse_settings: 12.0,
        ..Library::UNKNOWN
    },
    functions: &[
        (
            Use::Collector,
            Names {
                beginnings: &[
                    "runtime.mallocgc",
                    "internal/runtime/gc",
                    "gcWriteBarrier",
                    "runtime.newobject",
                    "runtime.gc",
                    "runtime.scan",
                    "runtime.greyobject",
                    "runtime.markroot",
                    "runtime.sweep",
                    "runtime.bgsweep",
                    "runtime.findObject",
                    "runtime.heapBits",
                    "runtime.heapSetType",
                    "runtime.typePointers",
                    "runtime.(*mspan)",
                    "runtime.(*mcache)",
                    "runtime.(*mcentral)",
                    "runtime.(*mheap)",
                    "runtime.(*gcWork)",
                    "runtime.(*sweepLocked)",
                    "runtime.nextFreeFast",
                    "runtime.wbBuf",
                ],
                ..NAMES
            },
        ),
        (
            Use::Clock,
            Names {
                beginnings: &["runtime.nanotime", "runtime.walltime"],
                ..NAMES
            },
        ),
        (
            Use::AsksChannel,
            Names {
                whole: &[
                    "runtime.selectnbrecv",
                    "runtime.selectnbsend",
                    "runtime.empty",
                    "runtime.full",
                ],
                ..NAMES
            },
        ),
        (
            Use::Channel,
            Names {
                whole: &["runtime.chanrecv", "runtime.chansend"],
                ..NAMES
            },
        ),
        (
            Use::Scheduler,
            Names {
                beginnings: &[
                    "sync.(*Mutex).",
                    "sync.(*RWMutex).",
                    "internal/sync.(*Mutex).",
                    "runtime.procyield",
                    "runtime.osyield",
                    "runtime.usleep",
                    "runtime.sem",
                    "runtime.cansemacquire",
                    "runtime.findRunnable",
                    "runtime.stealWork",
                    "runtime.runq",
                    "runtime.schedule",
                    "runtime.execute",
                    "runtime.lock2",
                    "runtime.unlock2",
                    "runtime.futex",
                    "runtime.note",
                    "runtime.wakep",
                    "runtime.startm",
                    "runtime.stopm",
                    "runtime.mPark",
                    "runtime.mcall",
                    "runtime.park_m",
                    "runtime.ready",
                    "runtime.casgstatus",
                ],
                ..NAMES
            },
        ),
        (
            Use::Spins,
            Names {
                beginnings: &["runtime."],
                ..NAMES
            },
        ),
        (
            Use::Start,
            Names {
                whole: &[
                    "runtime.main",
                    "runtime.goexit",
                    "runtime.mstart",
                    "runtime.mstart0",
                    "runtime.mstart1",
                    "runtime.rt0_go",
                    "runtime.mcall",
                    "runtime.systemstack",
                    "_rt0_amd64",
                ],
                ..NAMES
            },
        ),
    ],
    work: &[
        Work {
            role: ThreadRole::Collector,
            changed_by: &["GOGC", "GOMEMLIMIT"],
            functions: Names {
                whole: &["runtime.GC"],
                beginnings: &[
                    "runtime.gcBgMarkWorker",
                    "runtime.gcDrain",
                    "runtime.gcAssistAlloc",
                    "runtime.gcStart",
                    "runtime.gcMark",
                    "runtime.gcSweep",
                    "runtime.bgsweep",
                    "runtime.bgscavenge",
                    "runtime.sweepone",
                    "runtime.scanobject",
                    "runtime.greyobject",
                    "runtime.markroot",
                    "runtime.(*sweepLocked)",
                ],
                ..NAMES
            },
            ..WORK
        },
        Work {
            role: ThreadRole::Idle,
            changed_by: &["GOMAXPROCS"],
            functions: Names {
                whole: &["runtime.findRunnable", "runtime.stopm", "runtime.stealWork"],
                ..NAMES
            },
            ..WORK
        },
        Work {
            functions: Names {
                whole: &["runtime.sysmon"],
                ..NAMES
            },
            ..WORK
        },
    ],
    sources: &["/pkg/mod/", "/go/src/"],
    owns: |name| {
        let package = package(name).filter(|_| !name.contains("::"));
        let first = package.and_then(|package| package.split('/').next());
        first.is_some_and(|first| PACKAGES.contains(&first))
    },
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "`out := bufio.NewWriter(os.Stdout); defer out.Flush()`: write into `out` (`fmt.Fprintln(out, ...)`)."
            }
            Topic::Output { lines: true, .. } => {
                "`out := bufio.NewWriter(os.Stdout); defer out.Flush()` and `fmt.Fprintln(out, ...)`: `os.Stdout` has no buffer."
            }
            Topic::Input { .. } => "`in := bufio.NewReader(os.Stdin)`: read from it.",
            Topic::Stream => "`in := bufio.NewReader(conn)`: read from it.",
            Topic::File {
                writes: false,
                reopened: false,
            } => "`in := bufio.NewReader(file)`: read from it.",
            Topic::File {
                writes: true,
                reopened: false,
            } => "`out := bufio.NewWriter(file); defer out.Flush()`: write into it.",
            Topic::Objects { .. } => {
                "Create fewer objects: reuse buffers (`buf[:0]`, `sync.Pool`), give `make` a capacity, keep \
                 `[]byte` instead of `string`, avoid interfaces and pointers in hot slices; `GOGC` or `GOMEMLIMIT` \
                 make collections rarer. `go test -benchmem` and pprof's alloc_space show where."
            }
            Topic::Mutex {
                holder_waits: false,
            } => {
                "Compute outside of the mutex and hold it only to store the result; keep a sum per goroutine, use `sync/atomic`, or split the lock."
            }
            Topic::Channel => {
                "Wait for the channel: without `default`, a `select` sleeps until a message arrives; move other \
                 work to its own goroutine."
            }
            _ => return None,
        })
    },
    ..BASE
};

/// First path components of Go's standard packages.
const PACKAGES: [&str; 49] = [
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
];

/// For `github.com/a/b.(*T).f`, returns the text before the first period of the last path component.
fn package(name: &str) -> Option<&str> {
    let last = name.rfind('/').map_or(0, |at| at + 1);
    let point = name[last..].find('.')?;
    Some(&name[..last + point])
}
