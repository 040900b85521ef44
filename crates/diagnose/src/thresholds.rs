//! Thresholds from which on something is worth reporting, each with its reason.

/// Share of the wall time below which nothing is reported: less isn't noticeable, and noise on a shared
/// machine reaches it.
pub(crate) const LEAST_SHARE: f64 = 0.08;
/// Waiting is normal in a pipeline: a well-written program waits for its neighbours at its start and end. A
/// wait above this share is caused by the neighbour's pace.
pub(crate) const LEAST_WAIT_SHARE: f64 = 0.15;
/// On a busy machine the process that is waited for lacks a CPU too: a clean client of a local server waited
/// for 2 % of a wall time during which it had a CPU for a tenth.
pub(crate) const LEAST_WAIT_OF_WALL: f64 = 0.03;
/// An interpreter at the other end of a pipe takes 10 to 60 ms to start, several times that on a busy
/// machine.
pub(crate) const PARTNERS_START_NS: f64 = 200e6;
/// Shorter savings don't justify changing a program.
pub(crate) const LEAST_SAVING_NS: f64 = 3e6;
/// Fewer small calls, at 0.2 to 1 us each, don't add up to [`LEAST_SAVING_NS`].
pub(crate) const LEAST_SMALL_CALLS: u64 = 2_000;
/// A piece of a line: the trace's size classes end at 1 and 15 bytes.
pub(crate) const PIECE_BYTES: f64 = 16.0;
/// Share of the checked writes that end with a line end; from here on the program writes lines. A program
/// that writes each line end separately reaches a half.
pub(crate) const LINES_OF_WRITES: f64 = 0.6;
/// Fewer checked writes don't allow a conclusion.
pub(crate) const LEAST_CHECKED_FOR_LINES: u64 = 20;
/// A message has at least this many bytes; a program that receives fewer parses a stream byte by byte.
pub(crate) const BYTES_OF_A_MESSAGE: u64 = 4;
/// A line: text lines of 200 bytes are rare, and from there on copying matters compared with the call.
pub(crate) const LINE_BYTES: f64 = 200.0;
/// If a reader has to wait before this share of its reads, its writer produces small pieces; a buffer would
/// not help the reader.
pub(crate) const WAITS_PER_SMALL_READ: f64 = 0.3;
/// Waits for a writer hide the cost of small reads if they are at least a third of it: the two overlap only
/// while the writer sleeps, and a busy machine stretches only the reads.
pub(crate) const WAIT_THAT_HIDES: f64 = 3.0;
/// Share of the events that a process handles after its polls: if one kind reaches it, the process polls for
/// that kind.
pub(crate) const PART_OF_EVENTS: f64 = 0.8;
/// Length of a wait for a peer on the same machine that answers at once.
pub(crate) const WAKING_A_PEER_NS: f64 = 200e3;
/// The total from which on waits this short are worth reporting.
pub(crate) const LEAST_OF_SHORT_REPLIES_NS: f64 = 20e6;
/// CPUs used by a process's other threads while its workers take turns: from here on the other threads share
/// the work.
pub(crate) const OTHERS_CPUS: f64 = 0.25;
/// Share of the calls on a descriptor: if one file has it, the descriptor is named as that file alone.
pub(crate) const PART_OF_ONE_FILE: f64 = 0.95;
/// Share of the time a process waits in its polls: children that live for less than this are not what it
/// waits for.
pub(crate) const PART_OF_CHILDREN: f64 = 0.3;
/// Children whose lives add up to at most this multiple of the time they cover ran one at a time.
pub(crate) const OVERLAP_OF_SERIAL_CHILDREN: f64 = 1.15;
/// Share of own code from which on a hint explains how its functions get names: as much as a row needs to be
/// the answer.
pub(crate) const NAMES_SHARE: f64 = 0.2;
/// A main thread that waits for locks for less than this fraction of its life does its own work.
pub(crate) const JOIN_SHARE: f64 = 0.2;
/// A main thread that runs for at most this fraction of its life and otherwise waits for locks joins its
/// threads.
pub(crate) const CPU_OF_A_JOINER: f64 = 0.05;
/// A child that used less CPU than this mostly consists of its creation and end: creating one costs 0.5 to 5
/// ms, an interpreter's start 10 to 20 ms.
pub(crate) const SHORT_CHILD_CPU_NS: f64 = 15e6;
/// A copy that doesn't run another program has no start: what it computes beyond a library's own part in
/// forking is work.
pub(crate) const SHORT_COPY_OWN_NS: f64 = 5e6;
/// CPU time of an interpreter's start and end with one line of code: `python3` 13 to 30 ms, `node` 40, `java`
/// 60.
pub(crate) const START_OF_INTERPRETER_CPU_NS: f64 = 60e6;
/// Starts take about the same time each, work doesn't: the limit for the ratio of long to short ones (ninth
/// and first decile).
pub(crate) const EVEN_STARTS: f64 = 1.6;
/// A version manager's shim starts about 30 processes; a repeated pattern starts hundreds.
pub(crate) const MANY_PROCESSES: usize = 60;
/// This many short children of one parent that run one program are a loop; a shim runs about ten.
pub(crate) const MANY_OF_ONE_PROGRAM: usize = 20;
/// This many threads are created for pieces of work, not as a pool.
pub(crate) const MANY_THREADS: u64 = 1_000;
/// Fraction of its life that a thread waits for something outside the program, if that is its purpose.
pub(crate) const PART_OUTSIDE_OF_A_FEEDER: f64 = 0.5;
/// The largest fraction of its life that such a thread waits for locks: a thread that queues holds locks too.
pub(crate) const PART_IN_LOCKS_OF_A_FEEDER: f64 = 0.05;
/// The most threads created for each wait of their creator, if it waits for every one: some have already
/// ended.
pub(crate) const THREADS_FOR_A_WAIT: u64 = 2;
/// The most calls for creating, waking and ending a thread, with a little work: glibc and Rust 15, Java 25.
pub(crate) const CALLS_OF_A_THREAD: u64 = 40;
/// Share of the wall time from which on a loop of [`MANY_OF_ONE_PROGRAM`] children is reported.
pub(crate) const LOOP_SHARE: f64 = 0.4;
/// Time to create, execute and wait for a small program, if no probe measured it.
pub(crate) const SPAWN_SECONDS: f64 = 700e-6;
/// Time of a call, if neither a trace nor a probe measured it: 0.1 us on bare metal, 0.2 to 0.5 in VMs.
pub(crate) const CALL_SECONDS: f64 = 0.25e-6;
/// The most CPU time for fetching, relative to the wait for the disk, if not measured: 0.4 to 1.6 times the
/// wait in a VM.
pub(crate) const FETCH_CPU_PER_WAIT: f64 = 1.5;
/// A process that looks up a missing path this often until it exists is waiting for it.
pub(crate) const LOOKUPS_OF_A_WAIT: u64 = 200;
/// Reads this large are not small.
pub(crate) const LARGE_READ_BYTES: f64 = 256.0 * 1024.0;
/// Below this fraction of the wait the CPU time isn't mentioned.
pub(crate) const FETCH_CPU_WORTH_REPORTING: f64 = 0.1;
/// CPU time of a pure polling loop for each ns of its calls: C adds 10 % to a call of 0.3 us, Python three
/// times as much.
pub(crate) const LOOP_PER_CALL: f64 = 5.0;
/// Time of a page's first touch, if no probe measured it: 0.1 to 0.25 us on bare metal, 0.5 to 2 in VMs.
pub(crate) const PAGE_FAULT_SECONDS: f64 = 0.5e-6;
/// A fault of a large page clears 2 MiB.
pub(crate) const MOST_OF_A_FAULT_NS: f64 = 300_000.0;
/// If an opened file is a record, each opening reads at most this many bytes, and the file has at least
/// [`RECORDS_OF_A_FILE`] such parts.
pub(crate) const MOST_OF_A_RECORD: u64 = 4_096;
pub(crate) const RECORDS_OF_A_FILE: u64 = 4;
/// Fewer samples of a function tell little about how long it ran: with 20 its time is known within a half.
pub(crate) const LEAST_SAMPLES: u64 = 20;
/// The same for named functions. A single sample proves that such a function ran; only its time is less
/// certain.
pub(crate) const LEAST_SAMPLES_OF_NAMED: u64 = 10;
/// Share of a program's own code in library functions that an optimizing compiler always inlines. An
/// estimate: an optimized program has no such functions.
pub(crate) const PART_OF_SMALL_FUNCTIONS: f64 = 0.15;
/// Share of own code that a thread polling channels in a loop spends on polling. A thread that computes and
/// polls for a stop signal spends up to a fifth.
pub(crate) const PART_OF_ASKING: f64 = 0.6;
/// A dozen of the 4 ms ticks with which the kernel splits CPU time.
pub(crate) const ENOUGH_TICKS_NS: f64 = 50e6;
/// A smaller part of a run may be its start and end.
pub(crate) const LEAST_IN_CALLS_NS: f64 = 10e6;
/// 235 MiB: well-behaved programs hold tens to 180 MiB of data, and if a fault takes 3 us even that is half
/// of a run of 0.3 s (`ppbert` 0.8.4). More than this deserves attention.
pub(crate) const MANY_FAULTS: u64 = 60_000;
/// Fewer faults are reported too if they take most of the time: 30 newly allocated planes of 6 MiB in a
/// filter took 65 % of it, three times as long as the filter. A program start doesn't cause this many (78
/// MiB).
pub(crate) const FAULTS_THAT_RULE: u64 = 20_000;
/// Share of the wall time, above what a well-behaved program's memory takes in a VM with 3 us per fault (a
/// half).
pub(crate) const FAULTS_RULE: f64 = 0.6;
/// Enough calls to divide the kernel's time by: a start makes a few hundred, an interpreter's 1,000.
pub(crate) const CALLS_TO_DIVIDE_BY: f64 = 10_000.0;
/// A call that transfers little takes 0.2 us on bare metal and up to 1.6 in VMs; kernel time by ticks beyond
/// that belongs to something that the first calls don't show.
pub(crate) const DEAREST_SMALL_CALL_NS: f64 = 1_600.0;
/// Part of the simplest call that the kernel's ticks charge to the program's own code: measured as 0.27 to
/// 0.41 on four hosts.
pub(crate) const LATE_PART_OF_A_CALL: f64 = 0.3;
/// Calls whose work depends on their arguments: this many, and such a share of all, may take the time that no
/// usual call explains; none takes more than this. A new file took 30 to 450 us, a poll of 900 descriptors
/// 40, 256 KiB of random bytes 900.
pub(crate) const ELASTIC_CALLS: f64 = 300.0;
pub(crate) const PART_OF_ELASTIC_CALLS: f64 = 0.05;
/// The most other calls that may take long, relative to those: with more, the time can't be attributed.
pub(crate) const PART_OF_DEAR_OTHERS: f64 = 0.1;
pub(crate) const WEIGHT_OF_DEAR_CALLS: f64 = 5.0;
pub(crate) const DEAREST_ELASTIC_CALL_NS: f64 = 2_000_000.0;
/// Enough faults to divide the kernel's time outside of calls by.
pub(crate) const FAULTS_TO_DIVIDE_BY: u64 = 15_000;
/// Share of the wall time. Programs that hold their data in memory are fine: those that reach this share with
/// fewer than [`MANY_FAULTS`] aren't reported (`ppbert` 0.8.4 in a VM: 32 %), and those with more compute
/// longer on it (`sort` and `gcc` 5 to 15 %). 250 filled buffers of 1 MiB that are read once: 27 %.
pub(crate) const FAULT_SHARE: f64 = 0.25;
/// A working allocator makes a few hundred memory calls.
pub(crate) const MANY_MEMORY_CALLS: u64 = 1_000;
/// Programs that read by mapping, as git does, map and unmap a few thousand times.
pub(crate) const VERY_MANY_MEMORY_CALLS: u64 = 10_000;
/// Share of the wall time: `git log --stat` maps and unmaps the files it compares and spends 19 to 22 % on
/// it, by design; programs that map for each request spend 85 % and more.
pub(crate) const MEMORY_CALLS_SHARE: f64 = 0.30;
/// The same if only the heap grows and shrinks, as glibc does by default: `git log -p` spends 40 % on that.
pub(crate) const HEAP_SHARE: f64 = 0.45;
/// Calls that transfer this much or more move blocks: C's standard library uses 4 KiB, less for the last
/// block.
pub(crate) const BLOCK_BYTES: f64 = 2048.0;
/// Calls on paths without any on folders: not a directory walk, but the same query again and again.
pub(crate) const MANY_STATS: u64 = 50_000;
/// One fsync at the end is intended; one for each record is a pattern.
pub(crate) const MANY_SYNCS: u64 = 10;
/// One or two waits are chance, such as a `cp` that meets a commit of the file system's journal.
pub(crate) const LEAST_DISK_WAITS: u64 = 3;
/// A file that is recreated this often in one run: each time may wait for the previous write.
pub(crate) const MANY_OPENS_TO_REPLACE: u64 = 10;
/// The process at the other end of a pipe loses the CPU to others for some slices of 3 to 4 ms: five are
/// chance and not a slower pace.
pub(crate) const LEAST_PACE_NS: f64 = 20e6;
/// Disk waits of fewer faults belong to the program's own start, unless they take [`LONG_FETCH_NS`]: with the
/// kernel reading ahead by megabytes, 38 faults in a mapped file of 200 MB took 313 ms.
pub(crate) const MANY_MAJOR_FAULTS: u64 = 100;
/// This many engines that ended before their process mean one for each piece of work.
pub(crate) const MANY_ENGINES: usize = 10;
/// An engine that lives for longer than this fraction of its process's life is kept.
pub(crate) const PART_OF_A_PROCESS: f64 = 0.4;
/// If the tree answers its own requests, the remaining waits mostly come from waking each other.
pub(crate) const SHARE_OF_OWN_REPLIES: f64 = 0.3;
/// Opening a library this often is not normal library loading.
pub(crate) const MANY_OPENS_OF_A_LIBRARY: u64 = 50;
/// A poll of one descriptor takes 0.5 µs, one that sleeps some µs more, and each further descriptor
/// 80 ns.
pub(crate) const LONG_SCAN_NS: f64 = 20e3;
/// Share of the wall time: a program that searches hundreds of folders spends a tenth on misses, and one that
/// does little else a sixth.
pub(crate) const MISSES_SHARE: f64 = 0.15;
/// A searching program finds a folder or file for every few misses. If this share of its lookups fails, it
/// finds nothing with them.
pub(crate) const NEARLY_ALL_MISS: f64 = 0.9;
/// A program that searches folders misses a few thousand times.
pub(crate) const MISSES_OF_NO_SEARCH: u64 = 10_000;
/// The largest settings file, in bytes.
pub(crate) const MOST_OF_A_SETTINGS_FILE: f64 = 32.0 * 1024.0;
/// A configuration file may be read a few times.
pub(crate) const MANY_OPENS_OF_ONE_FILE: u64 = 50;
/// Mapping a larger file is worthwhile, as for the loader's cache and libraries.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// The largest share of all CPUs that busy threads use if they were bound to some and others were idle.
pub(crate) const CPUS_USED_BY_BOUND: f64 = 0.75;
/// Stream buffers: 4 KiB in C and older Rust, 8 in C++, Java, Python and Rust, 16 and more if requested.
pub(crate) const BUFFER_OF_A_STREAM: u64 = 16 << 10;
/// A file accessed at random by seeks has at least this many pieces of the size read; with fewer, the whole
/// file is read again.
pub(crate) const PIECES_OF_A_FILE: u64 = 8;
/// Files opened for fewer bytes than this each: sources and settings have several KiB on average, and a
/// program that must read existing files has no choice.
pub(crate) const TINY_FILE_BYTES: f64 = 1024.0;
/// This many files are data that were deliberately stored this way. A hundred at 10 us each cost 1 ms, which
/// doesn't matter.
pub(crate) const MANY_TINY_FILES: u64 = 2_000;
/// First touches for each page of the program's peak memory: with more, it touches memory that it gave back.
pub(crate) const TOUCHED_AGAIN: u64 = 8;
/// In that case this many calls are enough.
pub(crate) const MANY_MEMORY_CALLS_TOUCHED_AGAIN: u64 = 100;
/// A file that makes up this share of what a process reads is what its own code works on.
pub(crate) const PART_OF_INPUT: f64 = 0.5;
/// Share of their CPU time that threads must spin for a lock to be reported.
pub(crate) const SPINNING_WORTH_REPORTING: f64 = 0.1;
/// Time per byte of the fastest parsers: simdjson 0.3 to 0.5 ns.
pub(crate) const QUICKEST_PARSING_NS_PER_BYTE: f64 = 0.3;
/// Time per byte of the slowest parsers: OpenSSL takes 90 to 130 ns for each byte of a certificate bundle.
pub(crate) const SLOWEST_PARSING_NS_PER_BYTE: f64 = 1_000.0;
/// Work on the data read is mentioned from this share of the calls' cost on.
pub(crate) const WORK_WORTH_REPORTING: f64 = 0.2;
/// The library's work around calls is reported from this share of the calls' kernel cost on: below it the
/// rounded sum is the same as the calls alone.
pub(crate) const LIBRARY_WORTH_REPORTING: f64 = 0.03;
/// Bytes read when a whole small file is read; polling for news reads less.
pub(crate) const LEAST_OF_A_ROUND: u64 = 512;
/// Programs linked to a whole desktop's libraries; ordinary ones have 1 to 25.
pub(crate) const MANY_LIBRARIES: usize = 40;
/// Linux delays an ACK by 40 ms, some systems by up to 200.
pub(crate) const DELAYED_ACK_NS: [(f64, f64); 2] = [(38e6, 46e6), (196e6, 210e6)];
/// Fewer may come from a server that takes 40 ms.
pub(crate) const LEAST_STALLS: u64 = 4;
/// Iterations of a polling loop.
pub(crate) const MANY_POLLS: u64 = 3_000;
/// A shorter sleep doesn't count as one: timers have a slack of 50 us.
pub(crate) const SHORTEST_SLEEP_NS: f64 = 120e3;
/// Times that each of several threads queues for one lock.
pub(crate) const MANY_LOCK_WAITS: u64 = 15;
/// The same for locks on files: a process that waits for one waits for nothing else.
pub(crate) const MANY_FILE_LOCK_WAITS: u64 = 5;
/// Share of the time in lock waits: a thread that ended this much of it, or that waited this much for the
/// others, hands out the work. The idle threads of `lld`: 0.997.
pub(crate) const PART_OF_A_HUB: f64 = 0.95;
/// A thread that has less CPU time than this fraction of each other thread's, and this many waits relative to
/// all of theirs, gives them one job after the other and waits for each. In a Java executor: 300 of 311. A
/// thread that joins others waits once for each.
pub(crate) const PART_OF_A_GIVER: f64 = 0.7;
pub(crate) const CPU_OF_A_GIVER: f64 = 0.5;
/// A thread that is woken and finds the lock taken spins no longer than this before it sleeps again.
pub(crate) const RETRY_OF_A_LOCK_NS: u64 = 100_000;
/// Fraction of their lives that threads queue if a lock dominates.
pub(crate) const LOCK_SHARE: f64 = 0.2;
/// Two threads that each spend this fraction of their own code in `pthread_spin_lock` contend for a lock.
pub(crate) const PART_IN_SPIN_LOCK: f64 = 0.25;
/// The holder of a contended lock runs or is ready: the queue's threads do so for this fraction of the
/// elapsed time. Contended locks reach 0.9; a timer thread that works now and then 0.4.
pub(crate) const ABLE_HOLDER: f64 = 0.6;
/// Threads that write to a pipe and wait for its reader for this fraction of their time would wait even
/// longer if they didn't take turns.
pub(crate) const PACED_BY_READER: f64 = 0.2;

/// Threads that take turns at sleeping: their turns add up to at least this fraction of the elapsed time. The
/// rest is gaps between turns and phases without the lock.
pub(crate) const LEAST_OF_TURNS: f64 = 0.7;
/// The most that their turns add up to.
pub(crate) const MOST_OF_TURNS: f64 = 1.25;
/// The least fraction of its life that such a thread spends on its turns: twenty threads that share a lock
/// have a twentieth each.
pub(crate) const PART_OF_A_TURN: f64 = 0.04;
/// Share of the waits for a lock that are ended by another thread that waits for it too.
pub(crate) const PART_HANDED_ON: f64 = 0.7;
/// Share of a process's CPU time that the queueing threads have together. The rest belongs to threads that
/// prepare the work or always got the lock at once.
pub(crate) const PART_OF_QUEUES: f64 = 0.55;
/// The least CPU time of a thread that shares work, relative to an equal share.
pub(crate) const PART_OF_A_WORKER: f64 = 0.3;
/// Below this CPU time per wait, handing over costs more than the work: a storm of wake-ups, not a queue. A
/// wake-up costs 3 to 40 us.
pub(crate) const STORM_CPU_PER_WAIT_NS: f64 = 40e3;
/// The same without the calls that wait and wake: 20 to 40 us for each hand-over in a VM, so that the program
/// works less than it hands over.
pub(crate) const STORM_WORK_PER_WAIT_NS: f64 = 20e3;
/// If calls are not distinguished: more kernel time than this between two waits is not a hand-over.
pub(crate) const STORM_KERNEL_PER_WAIT_NS: f64 = 150e3;
/// Kernel time of one of many waits: leaving the CPU, being woken and coming back. 2 us on bare metal, 20 in
/// VMs.
pub(crate) const SWITCH_NS: f64 = 20e3;
/// Relative uncertainty of [`SWITCH_NS`]: 28 us while a neighbour shared the core.
pub(crate) const SWITCH_SCATTER: f64 = 0.5;
/// Number of waits that make a storm.
pub(crate) const MANY_WAKEUPS: u64 = 4_000;
/// Fraction of the run in which no other program had the CPU. Below this, other programs decide which thread
/// waits for which: `rustc`'s linker seemed to queue for locks while it waited for a CPU 87 % of the time.
pub(crate) const LEAST_QUIET: f64 = 0.2;
/// Part of the busy threads' delay that the command's own way to its end was off a CPU at least, if
/// that delayed it.
pub(crate) const DELAY_ON_PATH: f64 = 0.5;
/// If lack of CPUs delayed the command, its critical path was off a CPU for at least this fraction of the
/// busy threads' delay.
pub(crate) const OVERSUBSCRIBED_PER_CPU: f64 = 2.0;
/// Up to this ratio nearly every thread has its own CPU: lives overlap a little.
pub(crate) const ONE_FOR_EACH: f64 = 1.2;
/// A program start may have many threads for a moment: git's threads that stat files ahead of time wait for 7
/// ms each.
pub(crate) const LEAST_DELAY_NS: f64 = 20e6;
/// A lock is contended if each thread makes this many calls on it and few of them sleep.
pub(crate) const CALLS_FOR_A_LOCK: u64 = 5_000;
/// See [`CALLS_FOR_A_LOCK`].
pub(crate) const CALLS_FOR_A_SLEEP: u64 = 5;
/// The most total sleep for such a lock, relative to the cost of its calls: if threads sleep longer, the
/// sleep is the problem.
pub(crate) const SLEPT_OF_THRASHING: f64 = 2.0;
/// The least cost of idle CPUs: git's threads check its index for 20 ms, and over such a short time the
/// distribution of work is chance.
pub(crate) const LEAST_PARALLEL_SAVING_NS: f64 = 10e6;
/// Results of one thread that are waited for in turn: Java's main thread waits for the pool's start, and for
/// the end of one job.
pub(crate) const LEAST_RESULTS: usize = 6;
/// A process with this share of the CPU time of its pool does all the work.
pub(crate) const PART_OF_THE_BUSIEST: f64 = 0.9;
/// A thread that ran for this share of the wall time is the one that all others wait for.
pub(crate) const BUSY_THREAD: f64 = 0.8;
/// Share of kernel time without a more specific cause.
pub(crate) const KERNEL_SHARE: f64 = 0.2;
/// Share of the wall time from which on a single call that transfers nothing to or from a file is named,
/// however long each call takes.
pub(crate) const SHARE_OF_ONE_CALL: f64 = 0.5;
/// A start that takes this part of the wall time is about as long as the work.
pub(crate) const START_SHARE: f64 = 0.4;
/// The same if the time comes from another run.
pub(crate) const START_SHARE_MODELLED: f64 = 0.35;
/// Files touched before the first output in a start worth shortening; `python3` touches 60, `node` 30, `git`
/// 20.
pub(crate) const MANY_START_FILES: usize = 150;
/// Sources compiled at each start: a script has one or two modules of its own, and a program with cached
/// compiled forms none.
pub(crate) const SOURCES_OF_NOTE: usize = 5;
/// A runtime's own start that is worth mentioning in addition to what a program loads.
pub(crate) const RUNTIME_OF_NOTE_NS: f64 = 5e6;
/// A start that is noticeable to users who run the program repeatedly: 600 small modules in Node took 90 ms
/// on one machine, 65 on a faster one.
pub(crate) const LONG_START_NS: f64 = 60e6;
/// A noticeable wait for the disk; half of it suffices if it dominates the wall time.
pub(crate) const LONG_FETCH_NS: f64 = 100e6;
pub(crate) const FETCH_RULES: f64 = 0.3;
/// Share of the wall time that samples may miss without a warning: a run of a few milliseconds gives few
/// samples.
pub(crate) const UNSAMPLED_SHARE: f64 = 0.3;

/// A wrapper ends with the program that it wraps: its own work after that is less than this share of the run.
pub(crate) const AFTER_THE_WRAPPED: f64 = 0.1;
/// A server that has accepted at most one connection in this time is idle, ns. Servers of Python's
/// `http.server` wake up twice a second.
pub(crate) const IDLE_SERVER_NS: u64 = 200_000_000;
/// The share of the run from which on hidden time is reported.
pub(crate) const HIDDEN_OF_RUN: f64 = 0.02;
/// Traced runs that took at least this fraction of the untraced runs' time are comparable to them: medians of
/// three runs on a quiet machine differ by a few per cent, and the output promises a tenth.
pub(crate) const LEAST_LIKE_UNTRACED: f64 = 0.9;
/// The same limit for longer traced runs.
pub(crate) const MOST_LIKE_UNTRACED: f64 = 1.1;
/// A busy machine: part of the wall time that timed runs had to wait for a CPU.
pub(crate) const NEIGHBOURS_SHARE: f64 = 0.1;
/// Pauses up to this length are a loop that checks whether another thread is done, if one computes meanwhile;
/// on a busy machine pauses get several times as long as requested.
pub(crate) const PAUSE_OF_AN_ASKER_NS: f64 = 4.0 * SHORTEST_SLEEP_NS;
/// A warning about other programs is given if the critical path was ready but not running for this share.
pub(crate) const READY_SHARE: f64 = 0.25;
/// Share of polls followed by reading a pipe or an eventfd, from which on another thread of the process ends
/// them by writing to it.
pub(crate) const PART_SIGNALLED_BY_THREADS: f64 = 0.3;
/// Polls are pauses if their timeouts ended this share of the time in them.
pub(crate) const PART_BY_LIMIT: f64 = 0.5;
/// The same if nothing else ended polls that took time.
pub(crate) const ALL_BY_LIMIT: f64 = 0.95;
/// Tracing by stops ends after [`TIME_OF_A_BUDGET_NS`], and a stop takes 10 to 150 us: if fewer calls than
/// this came in that time, the program itself was slow.
pub(crate) const FEW_IN_A_BUDGET: u64 = 9_000;
/// See [`FEW_IN_A_BUDGET`].
pub(crate) const TIME_OF_A_BUDGET_NS: f64 = 2e9;
/// This many calls in the second half of the traced part show how a program continues.
pub(crate) const CALLS_OF_A_HABIT: u64 = 1_000;
/// Reads and writes are part of a repeated round if they are this share of the calls.
pub(crate) const PART_OF_A_ROUND: f64 = 0.05;
/// Kernel time to copy a byte, in ns: 8 GB/s.
pub(crate) const COPY_NS_PER_BYTE: f64 = 0.12;
/// A team mostly waits if at most this share of its CPU time is work; with more work, it lacks CPUs.
pub(crate) const WORK_OF_A_WAITING_TEAM: f64 = 0.5;
