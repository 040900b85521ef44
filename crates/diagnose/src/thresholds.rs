//! Thresholds above which something is worth reporting, each with its reason.

/// The share of the wall time below which nothing is reported: less isn't noticeable, and noise on a shared
/// machine reaches it.
pub(crate) const LEAST_SHARE: f64 = 0.08;
/// The share of the wall time above which a wait is caused by the neighbour's pace. Waiting is normal in a
/// pipeline: a well-written program waits for its neighbours at its start and end.
pub(crate) const LEAST_WAIT_SHARE: f64 = 0.15;
/// The minimum share of the whole wall time for a wait. On a busy machine, the process that is waited for
/// lacks a CPU too: a clean client of a local server waited for 2 % of a wall time during which it had a CPU
/// for only a tenth.
pub(crate) const LEAST_WAIT_OF_WALL: f64 = 0.03;
/// The maximum time to attribute to the start of the program at the other end of a pipe, in ns. An
/// interpreter takes 10 to 60 ms to start, and several times that on a busy machine.
pub(crate) const PARTNERS_START_NS: f64 = 200e6;
/// The minimum saving, in ns; shorter savings don't justify changing a program.
pub(crate) const LEAST_SAVING_NS: f64 = 3e6;
/// The minimum number of small calls; fewer calls, at 0.2 to 1 µs each, don't add up to [`LEAST_SAVING_NS`].
pub(crate) const LEAST_SMALL_CALLS: u64 = 2_000;
/// The number of bytes below which a write is a piece of a line; the trace's size classes end at 1 and 15
/// bytes.
pub(crate) const PIECE_BYTES: f64 = 16.0;
/// The share of the checked writes ending with a line end above which the program writes lines. A program
/// that writes each line end separately reaches one half.
pub(crate) const LINES_OF_WRITES: f64 = 0.6;
/// The minimum number of checked writes that allows a conclusion.
pub(crate) const LEAST_CHECKED_FOR_LINES: u64 = 20;
/// The minimum number of bytes of a message; a program that receives fewer parses a stream byte by byte.
pub(crate) const BYTES_OF_A_MESSAGE: u64 = 4;
/// The maximum number of bytes of a line: text lines of 200 bytes are rare, and above that size, copying
/// matters compared with the call.
pub(crate) const LINE_BYTES: f64 = 200.0;
/// If a reader has to wait before this share of its reads, its writer produces small pieces, and a buffer
/// would not help the reader.
pub(crate) const WAITS_PER_SMALL_READ: f64 = 0.3;
/// Waits for a writer hide the cost of small reads if that cost is at most this many times as long as the
/// waits. The two overlap only while the writer sleeps, and a busy machine stretches only the reads.
pub(crate) const WAIT_THAT_HIDES: f64 = 3.0;
/// The share of the events handled after a process's polls above which the process polls for that kind of
/// event.
pub(crate) const PART_OF_EVENTS: f64 = 0.8;
/// The length of a wait for a peer on the same machine that answers at once, in ns.
pub(crate) const WAKING_A_PEER_NS: f64 = 200e3;
/// The total above which waits this short are worth reporting, in ns.
pub(crate) const LEAST_OF_SHORT_REPLIES_NS: f64 = 20e6;
/// The number of CPUs used by a process's other threads, while its workers run one at a time, above which the
/// other threads share the work.
pub(crate) const OTHERS_CPUS: f64 = 0.25;
/// If one file has this share of the calls on a descriptor, the descriptor is named as that file alone.
pub(crate) const PART_OF_ONE_FILE: f64 = 0.95;
/// The share of the time a process waits in its polls below which the lives of children aren't what it waits
/// for.
pub(crate) const PART_OF_CHILDREN: f64 = 0.3;
/// Children ran one at a time if their lives add up to at most this multiple of the time they cover.
pub(crate) const OVERLAP_OF_SERIAL_CHILDREN: f64 = 1.15;
/// The share of own code above which a hint explains how its functions get names; a row needs as much to be
/// the answer.
pub(crate) const NAMES_SHARE: f64 = 0.2;
/// A main thread that waits for locks for less than this fraction of its life does its own work.
pub(crate) const JOIN_SHARE: f64 = 0.2;
/// A main thread that runs for at most this fraction of its life and otherwise waits for locks joins its
/// threads.
pub(crate) const CPU_OF_A_JOINER: f64 = 0.05;
/// The CPU time, in ns, below which a child mostly consists of its creation and end: creating one costs 0.5
/// to 5 ms, and an interpreter's start 10 to 20 ms.
pub(crate) const SHORT_CHILD_CPU_NS: f64 = 15e6;
/// The maximum own CPU time of a short copy, in ns. A copy that doesn't run another program has no start, so
/// what it computes beyond the library's part of forking is work.
pub(crate) const SHORT_COPY_OWN_NS: f64 = 5e6;
/// The maximum CPU time, in ns, of the start and end of an interpreter with one line of code: `python3` takes
/// 13 to 30 ms, `node` 40, and `java` 60.
pub(crate) const START_OF_INTERPRETER_CPU_NS: f64 = 60e6;
/// The maximum ratio of long to short starts (ninth and first decile). Starts take about the same time each;
/// work doesn't.
pub(crate) const EVEN_STARTS: f64 = 1.6;
/// The number of processes that make a pattern. A version manager's shim starts about 30 processes; a
/// repeated pattern starts hundreds.
pub(crate) const MANY_PROCESSES: usize = 60;
/// The number of short children of one parent running one program that make a loop; a shim runs about ten.
pub(crate) const MANY_OF_ONE_PROGRAM: usize = 20;
/// The number of threads above which they are created for pieces of work, not as a pool.
pub(crate) const MANY_THREADS: u64 = 1_000;
/// The minimum fraction of its life for which a thread waits for something outside the program, if that is
/// its purpose.
pub(crate) const PART_OUTSIDE_OF_A_FEEDER: f64 = 0.5;
/// The maximum fraction of its life for which such a thread waits for locks; a thread that queues also holds
/// locks.
pub(crate) const PART_IN_LOCKS_OF_A_FEEDER: f64 = 0.05;
/// The maximum number of threads created for each wait of their creator, if it waits for every one. It is
/// more than one because some have already ended.
pub(crate) const THREADS_FOR_A_WAIT: u64 = 2;
/// The maximum number of calls for creating, waking and ending a thread that does a little work: glibc and
/// Rust take 15, and Java 25.
pub(crate) const CALLS_OF_A_THREAD: u64 = 40;
/// The share of the wall time above which a loop of [`MANY_OF_ONE_PROGRAM`] children is reported.
pub(crate) const LOOP_SHARE: f64 = 0.4;
/// Time to create and execute a small program and wait for it, if no probe measured it.
pub(crate) const SPAWN_SECONDS: f64 = 700e-6;
/// The time of a call, if neither a trace nor a probe measured it: it is 0.1 µs on bare metal, and 0.2 to 0.5
/// µs in VMs.
pub(crate) const CALL_SECONDS: f64 = 0.25e-6;
/// The maximum CPU time for fetching, relative to the wait for the disk, if it was not measured: it is 0.4 to
/// 1.6 times the wait in a VM.
pub(crate) const FETCH_CPU_PER_WAIT: f64 = 1.5;
/// The number of lookups of a missing path above which a process is waiting for the path to exist.
pub(crate) const LOOKUPS_OF_A_WAIT: u64 = 200;
/// The size in bytes above which reads are not small.
pub(crate) const LARGE_READ_BYTES: f64 = 256.0 * 1024.0;
/// The fraction of the wait below which the CPU time isn't mentioned.
pub(crate) const FETCH_CPU_WORTH_REPORTING: f64 = 0.1;
/// The CPU time of a pure polling loop for each ns of its calls: C adds 10 % to a call of 0.3 µs, and Python
/// adds three times as much as the call takes.
pub(crate) const LOOP_PER_CALL: f64 = 5.0;
/// The time of a page's first touch, if no probe measured it: it is 0.1 to 0.25 µs on bare metal, and 0.5 to
/// 2 µs in VMs.
pub(crate) const PAGE_FAULT_SECONDS: f64 = 0.5e-6;
/// The maximum time of a fault, in ns: a fault of a large page clears 2 MiB.
pub(crate) const MOST_OF_A_FAULT_NS: f64 = 300_000.0;
/// If an opened file is a record, each opening reads at most this many bytes, and the file has at least
/// [`RECORDS_OF_A_FILE`] such parts.
pub(crate) const MOST_OF_A_RECORD: u64 = 4_096;
pub(crate) const RECORDS_OF_A_FILE: u64 = 4;
/// The minimum number of samples of a function; fewer tell little about how long it ran. With 20, its time is
/// known to within a half.
pub(crate) const LEAST_SAMPLES: u64 = 20;
/// The same minimum for named functions. A single sample proves that such a function ran; only its time is
/// less certain.
pub(crate) const LEAST_SAMPLES_OF_NAMED: u64 = 10;
/// The minimum share of a program's own code in library functions that an optimizing compiler always inlines.
/// This is an estimate; an optimized program has no such functions.
pub(crate) const PART_OF_SMALL_FUNCTIONS: f64 = 0.15;
/// The minimum share of own code that a thread polling channels in a loop spends on polling. A thread that
/// computes and polls for a stop signal spends up to a fifth.
pub(crate) const PART_OF_ASKING: f64 = 0.6;
/// The minimum time by ticks, in ns: a dozen of the 4 ms ticks with which the kernel splits CPU time.
pub(crate) const ENOUGH_TICKS_NS: f64 = 50e6;
/// The minimum time in calls, in ns; a smaller part of a run may be its start and end.
pub(crate) const LEAST_IN_CALLS_NS: f64 = 10e6;
/// The number of faults, which is 235 MiB, above which memory deserves attention. Well-behaved programs hold
/// tens to 180 MiB of data; if a fault takes 3 µs, even that is half of a run of 0.3 s (`ppbert` 0.8.4).
pub(crate) const MANY_FAULTS: u64 = 60_000;
/// The number of faults above which they are also reported if they take most of the time. Allocating 30
/// planes of 6 MiB in a filter took 65 % of the time, three times as long as the filter. A program start
/// doesn't cause this many faults (78 MiB).
pub(crate) const FAULTS_THAT_RULE: u64 = 20_000;
/// The share of the wall time above which fewer faults are reported. It is more than what a well-behaved
/// program's memory takes in a VM with 3 µs per fault (a half).
pub(crate) const FAULTS_RULE: f64 = 0.6;
/// The number of calls that is large enough to divide the kernel's time by: a start makes a few hundred, and
/// that of an interpreter 1,000.
pub(crate) const CALLS_TO_DIVIDE_BY: f64 = 10_000.0;
/// The maximum time of a call that transfers little, which is 0.2 µs on bare metal and up to 1.6 µs in VMs.
/// Kernel time by ticks beyond that belongs to something that the first calls don't show.
pub(crate) const DEAREST_SMALL_CALL_NS: f64 = 1_600.0;
/// The part of the simplest call that the kernel's ticks charge to the program's own code, which was measured
/// as 0.27 to 0.41 on four hosts.
pub(crate) const LATE_PART_OF_A_CALL: f64 = 0.3;
/// The minimum number of calls whose work depends on their arguments. If there are this many, and they are a
/// sufficient share of all calls, they may account for time that no usual call explains, up to a maximum for
/// each. A new file took 30 to 450 µs, a poll of 900 descriptors 40 µs, and 256 KiB of random bytes 900 µs.
pub(crate) const ELASTIC_CALLS: f64 = 300.0;
pub(crate) const PART_OF_ELASTIC_CALLS: f64 = 0.05;
/// The maximum number of other calls that may take long, relative to the elastic ones; with more, the time
/// can't be attributed.
pub(crate) const PART_OF_DEAR_OTHERS: f64 = 0.1;
pub(crate) const WEIGHT_OF_DEAR_CALLS: f64 = 5.0;
pub(crate) const DEAREST_ELASTIC_CALL_NS: f64 = 2_000_000.0;
/// The number of faults that is large enough to divide the kernel's time outside of calls by.
pub(crate) const FAULTS_TO_DIVIDE_BY: u64 = 15_000;
/// The share of the wall time above which faults are reported. Programs that hold their data in memory are
/// fine: those that reach this share with fewer than [`MANY_FAULTS`] aren't reported (`ppbert` 0.8.4 in a VM:
/// 32 %), and those with more faults compute longer on their data (`sort` and `gcc`: 5 to 15 %). For 250
/// filled buffers of 1 MiB that are read once, it is 27 %.
pub(crate) const FAULT_SHARE: f64 = 0.25;
/// The number of memory calls above which they are many; a working allocator makes a few hundred.
pub(crate) const MANY_MEMORY_CALLS: u64 = 1_000;
/// Programs that read by mapping, as git does, map and unmap a few thousand times.
pub(crate) const VERY_MANY_MEMORY_CALLS: u64 = 10_000;
/// The minimum share of the wall time. `git log --stat` maps and unmaps the files it compares and spends 19
/// to 22 % on that, by design; programs that map for each request spend 85 % and more.
pub(crate) const MEMORY_CALLS_SHARE: f64 = 0.30;
/// The same minimum if only the heap grows and shrinks, as glibc does by default; `git log -p` spends 40 % on
/// that.
pub(crate) const HEAP_SHARE: f64 = 0.45;
/// The number of bytes from which calls move blocks: C's standard library uses 4 KiB, and less for the last
/// block.
pub(crate) const BLOCK_BYTES: f64 = 2048.0;
/// The number of calls on paths, without any on folders, above which they aren't a directory walk but the
/// same query again and again.
pub(crate) const MANY_STATS: u64 = 50_000;
/// The number of syncs that make a pattern: one at the end is intended, but one for each record is a pattern.
pub(crate) const MANY_SYNCS: u64 = 10;
/// The minimum number of disk waits. One or two are chance, such as a `cp` that coincides with a commit of
/// the file system's journal.
pub(crate) const LEAST_DISK_WAITS: u64 = 3;
/// The number of times that a file must be recreated in one run to be reported; each time may wait for the
/// previous write.
pub(crate) const MANY_OPENS_TO_REPLACE: u64 = 10;
/// The minimum wait, in ns, that indicates a slower pace. The process at the other end of a pipe loses the
/// CPU to others for some slices of 3 to 4 ms, and five of these are chance.
pub(crate) const LEAST_PACE_NS: f64 = 20e6;
/// The minimum number of major faults. The disk waits of fewer faults belong to the program's own start,
/// unless they take [`LONG_FETCH_NS`]: with the kernel reading ahead by megabytes, 38 faults in a mapped file
/// of 200 MB took 313 ms.
pub(crate) const MANY_MAJOR_FAULTS: u64 = 100;
/// The number of engines that ended before their process from which there is one for each piece of work.
pub(crate) const MANY_ENGINES: usize = 10;
/// An engine counts as kept if it lives for longer than this fraction of its process's life.
pub(crate) const PART_OF_A_PROCESS: f64 = 0.4;
/// The minimum share if the tree answers its own requests; the remaining waits are then mostly due to waking
/// each other.
pub(crate) const SHARE_OF_OWN_REPLIES: f64 = 0.3;
/// The number of opens of a library above which this is not normal library loading.
pub(crate) const MANY_OPENS_OF_A_LIBRARY: u64 = 50;
/// The time of a poll, in ns, above which it scans many descriptors. A poll of one descriptor takes 0.5 µs,
/// one that sleeps takes some µs more, and each additional descriptor takes 80 ns.
pub(crate) const LONG_SCAN_NS: f64 = 20e3;
/// The minimum share of the wall time for misses: a program that searches hundreds of folders spends a tenth
/// on misses, and one that does little else a sixth.
pub(crate) const MISSES_SHARE: f64 = 0.15;
/// If at least this share of a program's lookups fail, it finds nothing with them; a program that searches
/// finds a folder or file for every few misses.
pub(crate) const NEARLY_ALL_MISS: f64 = 0.9;
/// The number of misses above which they aren't a search: a program that searches folders misses a few
/// thousand times.
pub(crate) const MISSES_OF_NO_SEARCH: u64 = 10_000;
/// The maximum size of a settings file, in bytes.
pub(crate) const MOST_OF_A_SETTINGS_FILE: f64 = 32.0 * 1024.0;
/// The number of opens of one file above which they are reported; a configuration file may be read a few
/// times.
pub(crate) const MANY_OPENS_OF_ONE_FILE: u64 = 50;
/// The size above which mapping a file is worthwhile, as for the loader's cache and libraries.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// The maximum share of all CPUs that busy threads use if they were bound to some CPUs while others were
/// idle.
pub(crate) const CPUS_USED_BY_BOUND: f64 = 0.75;
/// The size of a stream's buffer, in bytes: 4 KiB in C and older Rust, 8 KiB in C++, Java, Python and Rust,
/// and 16 KiB and more if requested.
pub(crate) const BUFFER_OF_A_STREAM: u64 = 16 << 10;
/// The minimum number of pieces, of the size read, in a file that is accessed at random by seeks; with fewer,
/// the whole file is read again.
pub(crate) const PIECES_OF_A_FILE: u64 = 8;
/// The average size below which opened files are tiny. Sources and settings have several KiB on average, and
/// a program that must read existing files has no choice.
pub(crate) const TINY_FILE_BYTES: f64 = 1024.0;
/// The number of files above which data was deliberately stored this way. A hundred files at 10 µs each cost
/// 1 ms, which doesn't matter.
pub(crate) const MANY_TINY_FILES: u64 = 2_000;
/// The number of first touches for each page of the program's peak memory above which it touches memory that
/// it had given back.
pub(crate) const TOUCHED_AGAIN: u64 = 8;
/// The number of memory calls that is enough in that case.
pub(crate) const MANY_MEMORY_CALLS_TOUCHED_AGAIN: u64 = 100;
/// A file is what a process's own code works on if it makes up at least this share of what the process reads.
pub(crate) const PART_OF_INPUT: f64 = 0.5;
/// The minimum share of their CPU time for which threads must spin for a lock to be reported.
pub(crate) const SPINNING_WORTH_REPORTING: f64 = 0.1;
/// Time per byte of the fastest parsers: simdjson 0.3 to 0.5 ns.
pub(crate) const QUICKEST_PARSING_NS_PER_BYTE: f64 = 0.3;
/// Time per byte of the slowest parsers: OpenSSL takes 90 to 130 ns for each byte of a certificate bundle.
pub(crate) const SLOWEST_PARSING_NS_PER_BYTE: f64 = 1_000.0;
/// The share of the calls' cost above which work on the data read is mentioned.
pub(crate) const WORK_WORTH_REPORTING: f64 = 0.2;
/// The share of the calls' kernel cost above which the library's work around calls is reported; below it, the
/// rounded sum is the same as the calls alone.
pub(crate) const LIBRARY_WORTH_REPORTING: f64 = 0.03;
/// The minimum number of bytes read when a whole small file is read; polling for new data reads less.
pub(crate) const LEAST_OF_A_ROUND: u64 = 512;
/// The number of libraries above which there are many, as in programs linked to a whole desktop's libraries;
/// ordinary programs have 1 to 25.
pub(crate) const MANY_LIBRARIES: usize = 40;
/// The ranges, in ns, of the delay of an acknowledgement: Linux delays it by 40 ms, and some systems by up to
/// 200 ms.
pub(crate) const DELAYED_ACK_NS: [(f64, f64); 2] = [(38e6, 46e6), (196e6, 210e6)];
/// The minimum number of stalls; fewer may come from a server that takes 40 ms.
pub(crate) const LEAST_STALLS: u64 = 4;
/// The number of iterations from which a polling loop is reported.
pub(crate) const MANY_POLLS: u64 = 3_000;
/// The minimum duration of a sleep, in ns; a shorter one doesn't count, because timers have a slack of 50 µs.
pub(crate) const SHORTEST_SLEEP_NS: f64 = 120e3;
/// The minimum number of times that each of several threads queues for a lock.
pub(crate) const MANY_LOCK_WAITS: u64 = 15;
/// The same minimum for locks on files; a process that waits for such a lock waits for nothing else.
pub(crate) const MANY_FILE_LOCK_WAITS: u64 = 5;
/// The share of the time in lock waits from which a thread hands out the work: it either ended this much of
/// that time, or waited this much for the others. For the idle threads of `lld`, it is 0.997.
pub(crate) const PART_OF_A_HUB: f64 = 0.95;
/// A thread gives the others one job after another and waits for each if it has at least this part of all
/// their waits, and less CPU time than the fraction below of every other thread's. In a Java executor, it had
/// 300 of 311 waits. By contrast, a thread that joins others waits only once for each.
pub(crate) const PART_OF_A_GIVER: f64 = 0.7;
pub(crate) const CPU_OF_A_GIVER: f64 = 0.5;
/// The maximum time, in ns, for which a thread that is woken and finds the lock taken spins before it sleeps
/// again.
pub(crate) const RETRY_OF_A_LOCK_NS: u64 = 100_000;
/// The fraction of their lives for which threads queue if a lock dominates.
pub(crate) const LOCK_SHARE: f64 = 0.2;
/// The minimum part of a thread's waits that its stacks show to be for locks, or for events, for the thread to
/// count as waiting for these.
pub(crate) const SHOWN_BY_STACKS: f64 = 0.5;
/// Threads that don't depend on each other are on a CPU at the same time for a part of the time that follows
/// from the CPU time that they get. Threads that take turns reach less than a tenth of it (0.005 to 0.09 for
/// mutexes, 0.2 for an interpreter's lock), others nearly all (0.8 to 1.1), however busy the machine is.
pub(crate) const AT_ONCE_IN_TURNS: f64 = 0.3;
/// The minimum of that part of the time for the comparison to be meaningful.
pub(crate) const LEAST_AT_ONCE: f64 = 0.02;
/// Two threads that each spend this fraction of their own code in `pthread_spin_lock` contend for a lock.
pub(crate) const PART_IN_SPIN_LOCK: f64 = 0.25;
/// The minimum fraction of the elapsed time for which the threads of a queue run or are ready; this is true
/// of the holder of a contended lock. Contended locks reach 0.9, and a timer thread that works now and then
/// reaches 0.4.
pub(crate) const ABLE_HOLDER: f64 = 0.6;
/// Threads that write to a pipe and wait for its reader for at least this fraction of their time would wait
/// even longer if they didn't run one at a time.
pub(crate) const PACED_BY_READER: f64 = 0.2;

/// The minimum fraction of the elapsed time that the sleeps of threads that sleep one after another add up
/// to. The rest is gaps between these sleeps and phases without the lock.
pub(crate) const LEAST_OF_TURNS: f64 = 0.7;
/// The maximum fraction of the elapsed time that they add up to.
pub(crate) const MOST_OF_TURNS: f64 = 1.25;
/// The minimum fraction of its life for which such a thread has the lock: twenty threads that share a lock
/// have a twentieth each.
pub(crate) const PART_OF_A_TURN: f64 = 0.04;
/// The share of the waits for a lock that must be ended by another thread that waits for it too.
pub(crate) const PART_HANDED_ON: f64 = 0.7;
/// The minimum share of a process's CPU time that the queueing threads have together. The rest belongs to
/// threads that prepare the work or that always got the lock at once.
pub(crate) const PART_OF_QUEUES: f64 = 0.55;
/// The minimum CPU time of a thread that shares work, relative to an equal share.
pub(crate) const PART_OF_A_WORKER: f64 = 0.3;
/// The CPU time per wait, in ns, below which handing over costs more than the work; such waits are a storm of
/// wake-ups, not a queue. A wake-up costs 3 to 40 µs.
pub(crate) const STORM_CPU_PER_WAIT_NS: f64 = 40e3;
/// The same limit without the calls that wait and wake. These take 20 to 40 µs for each hand-over in a VM, so
/// the program works less than it hands over.
pub(crate) const STORM_WORK_PER_WAIT_NS: f64 = 20e3;
/// The kernel time between two waits, in ns, above which they are not a hand-over, if calls are not
/// distinguished.
pub(crate) const STORM_KERNEL_PER_WAIT_NS: f64 = 150e3;
/// The kernel time of one of many waits, in ns, for leaving the CPU, being woken and coming back. It is 2 µs
/// on bare metal and 20 µs in VMs.
pub(crate) const SWITCH_NS: f64 = 20e3;
/// The relative uncertainty of [`SWITCH_NS`], which was 28 µs while a neighbour shared the core.
pub(crate) const SWITCH_SCATTER: f64 = 0.5;
/// The number of waits that make a storm of wake-ups.
pub(crate) const MANY_WAKEUPS: u64 = 4_000;
/// The minimum fraction of the run in which no other program had the CPU. Below this, other programs decide
/// which thread waits for which: `rustc`'s linker seemed to queue for locks, while in fact it waited for a
/// CPU 87 % of the time.
pub(crate) const LEAST_QUIET: f64 = 0.2;
/// The minimum part of the busy threads' delay for which the command's critical path was off a CPU, if lack
/// of CPUs delayed the command.
pub(crate) const DELAY_ON_PATH: f64 = 0.5;
/// The number of threads that want a CPU, per CPU, above which the command is oversubscribed.
pub(crate) const OVERSUBSCRIBED_PER_CPU: f64 = 2.0;
/// The number of busy threads, per CPU, from which too many of them are a finding even if nothing outside the
/// command waits for a part of the work: below, the whole takes as long as with one thread per CPU.
pub(crate) const CROWDED_PER_CPU: f64 = 8.0;
/// The minimum CPU time, in ns, between two sleeps of a thread that counts as busy if it sleeps for more than
/// half of the rest of its time. The threads of a pool that are woken for each small task take 10 to 100 µs.
pub(crate) const LEAST_AT_A_TIME_NS: f64 = 500e3;
/// The maximum ratio at which nearly every thread has its own CPU; lives overlap a little.
pub(crate) const ONE_FOR_EACH: f64 = 1.2;
/// The minimum delay, in ns. A program start may have many threads for a moment: git's threads that stat
/// files ahead of time wait for 7 ms each.
pub(crate) const LEAST_DELAY_NS: f64 = 20e6;
/// The minimum number of calls that each thread makes on a lock for it to be contended, if few of these calls
/// sleep.
pub(crate) const CALLS_FOR_A_LOCK: u64 = 5_000;
/// See [`CALLS_FOR_A_LOCK`].
pub(crate) const CALLS_FOR_A_SLEEP: u64 = 5;
/// The maximum total sleep for such a lock, relative to the cost of its calls; if threads sleep longer, the
/// sleep is the problem.
pub(crate) const SLEPT_OF_THRASHING: f64 = 2.0;
/// The minimum cost of idle CPUs, in ns: git's threads check its index for 20 ms, and over such a short time
/// the distribution of work is chance.
pub(crate) const LEAST_PARALLEL_SAVING_NS: f64 = 10e6;
/// The minimum number of results of one thread that are waited for one after another. Java's main thread
/// waits for the pool's start, and for the end of one job.
pub(crate) const LEAST_RESULTS: usize = 6;
/// If a process has this share of the CPU time of its pool, it does all the work.
pub(crate) const PART_OF_THE_BUSIEST: f64 = 0.9;
/// If a thread ran for this share of the wall time, it is the one for which all others wait.
pub(crate) const BUSY_THREAD: f64 = 0.8;
/// The minimum share of kernel time without a more specific cause.
pub(crate) const KERNEL_SHARE: f64 = 0.2;
/// The share of the wall time above which a single call that transfers nothing to or from a file is named,
/// however long each call takes.
pub(crate) const SHARE_OF_ONE_CALL: f64 = 0.5;
/// The share of the wall time above which a start counts as about as long as the work.
pub(crate) const START_SHARE: f64 = 0.4;
/// The same share if the time comes from another run.
pub(crate) const START_SHARE_MODELLED: f64 = 0.35;
/// The minimum number of files touched before the first output in a start that is worth shortening; `python3`
/// touches 60, `node` 30, and `git` 20.
pub(crate) const MANY_START_FILES: usize = 150;
/// The minimum number of sources that are compiled at each start. A script has one or two modules of its own,
/// and a program with cached compiled forms compiles none.
pub(crate) const SOURCES_OF_NOTE: usize = 5;
/// The minimum duration, in ns, of a runtime's own start that is worth mentioning in addition to what a
/// program loads.
pub(crate) const RUNTIME_OF_NOTE_NS: f64 = 5e6;
/// The duration, in ns, of a start that is noticeable to users who run the program repeatedly: 600 small
/// modules in Node took 90 ms on one machine, and 65 ms on a faster one.
pub(crate) const LONG_START_NS: f64 = 60e6;
/// The duration, in ns, of a noticeable wait for the disk; half of it suffices if the wait dominates the wall
/// time.
pub(crate) const LONG_FETCH_NS: f64 = 100e6;
pub(crate) const FETCH_RULES: f64 = 0.3;
/// The share of the wall time that samples may miss without a warning; a run of a few milliseconds gives few
/// samples.
pub(crate) const UNSAMPLED_SHARE: f64 = 0.3;

/// The maximum share of the run for which a wrapper works after the program that it wraps has ended.
pub(crate) const AFTER_THE_WRAPPED: f64 = 0.1;
/// The time, in ns, per accepted connection above which a server counts as idle. Servers based on Python's
/// `http.server` wake up twice a second.
pub(crate) const IDLE_SERVER_NS: u64 = 200_000_000;
/// The share of the run above which hidden time is reported.
pub(crate) const HIDDEN_OF_RUN: f64 = 0.02;
/// The minimum fraction of the untraced runs' time that a traced run must take to be comparable to them.
/// Medians of three runs on a quiet machine differ by a few per cent, and the output promises a tenth.
pub(crate) const LEAST_LIKE_UNTRACED: f64 = 0.9;
/// The corresponding maximum for longer traced runs.
pub(crate) const MOST_LIKE_UNTRACED: f64 = 1.1;
/// The part of the wall time for which timed runs had to wait for a CPU above which the machine is busy.
pub(crate) const NEIGHBOURS_SHARE: f64 = 0.1;
/// The maximum length, in ns, of pauses that form a loop checking whether another thread is done, if one
/// computes meanwhile. On a busy machine, pauses become several times as long as requested.
pub(crate) const PAUSE_OF_AN_ASKER_NS: f64 = 4.0 * SHORTEST_SLEEP_NS;
/// The share of the time for which the critical path was ready but not running above which a warning about
/// other programs is given.
pub(crate) const READY_SHARE: f64 = 0.25;
/// The share of polls followed by reading a pipe or an eventfd above which another thread of the process ends
/// the polls by writing to it.
pub(crate) const PART_SIGNALLED_BY_THREADS: f64 = 0.3;
/// Polls are pauses if this share of the time in them ended by a timeout.
pub(crate) const PART_BY_LIMIT: f64 = 0.5;
/// The same share if nothing else ended polls that took time.
pub(crate) const ALL_BY_LIMIT: f64 = 0.95;
/// The number of calls below which the program itself was slow if they were all that came within
/// [`TIME_OF_A_BUDGET_NS`], after which tracing by stops ends. A stop takes 10 to 150 µs.
pub(crate) const FEW_IN_A_BUDGET: u64 = 9_000;
/// See [`FEW_IN_A_BUDGET`].
pub(crate) const TIME_OF_A_BUDGET_NS: f64 = 2e9;
/// The number of calls in the second half of the traced part that is enough to show how a program continues.
pub(crate) const CALLS_OF_A_HABIT: u64 = 1_000;
/// Reads and writes are part of a repeated round if they make up this share of the calls.
pub(crate) const PART_OF_A_ROUND: f64 = 0.05;
/// Kernel time to copy a byte, in ns: 8 GB/s.
pub(crate) const COPY_NS_PER_BYTE: f64 = 0.12;
/// The maximum share of work in the CPU time of a team that mostly waits; with more work, it lacks CPUs.
pub(crate) const WORK_OF_A_WAITING_TEAM: f64 = 0.5;
