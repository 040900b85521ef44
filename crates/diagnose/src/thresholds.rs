//! From where on is something worth reporting? Each with its reason.

/// Share of the wall time below which nothing is reported: less is not noticed, and noise on a
/// shared machine reaches it.
pub(crate) const LEAST_SHARE: f64 = 0.08;
/// Waiting is part of life in a pipeline: a well-made program waits for its neighbours at its
/// start and end. More than this is the neighbour's pace.
pub(crate) const LEAST_WAIT_SHARE: f64 = 0.15;
/// On a busy machine whoever is waited for is kept from a CPU too: a clean client of a local server
/// waited for 2 % of a wall time of which it had a CPU for a tenth.
pub(crate) const LEAST_WAIT_OF_WALL: f64 = 0.03;
/// An interpreter at the other end of a pipe starts in 10 to 60 ms, several times that on a busy
/// machine.
pub(crate) const PARTNERS_START_NS: f64 = 200e6;
/// Nothing shorter is worth a change of a program.
pub(crate) const LEAST_SAVING_NS: f64 = 3e6;
/// Fewer small calls don't add up to [`LEAST_SAVING_NS`] at 0.2 to 1 us each.
pub(crate) const LEAST_SMALL_CALLS: u64 = 2_000;
/// A piece of a line: the trace's size classes end at 1 and 15 bytes.
pub(crate) const PIECE_BYTES: f64 = 16.0;
/// Of the writes whose last byte was checked: where so many end a line, lines are written. What
/// writes each line's end by itself has half of them.
pub(crate) const LINES_OF_WRITES: f64 = 0.6;
/// Fewer samples say nothing.
pub(crate) const LEAST_CHECKED_FOR_LINES: u64 = 20;
/// Messages have so many bytes at least; who receives fewer takes a stream apart byte by byte.
pub(crate) const BYTES_OF_A_MESSAGE: u64 = 4;
/// A line: text lines of 200 bytes are rare, and copying then begins to weigh beside the call.
pub(crate) const LINE_BYTES: f64 = 200.0;
/// A reader that has to wait before this part of its reads is given small pieces by its writer;
/// a buffer would not help it.
pub(crate) const WAITS_PER_SMALL_READ: f64 = 0.3;
/// Waits for a writer that are at least a third of what small reads cost hide them: the two overlap
/// only while the writer sleeps, and a busy machine stretches the reads alone.
pub(crate) const WAIT_THAT_HIDES: f64 = 3.0;
/// Of the events that a process takes after its polls: so large a part of one kind is what it polls
/// for.
pub(crate) const PART_OF_EVENTS: f64 = 0.8;
/// A wait for a peer on the same machine that answers at once.
pub(crate) const WAKING_A_PEER_NS: f64 = 200e3;
/// Waits as short as that are worth reporting from here on.
pub(crate) const LEAST_OF_SHORT_REPLIES_NS: f64 = 20e6;
/// CPUs that a process's other threads use while its workers take turns: from here on they share
/// the work.
pub(crate) const OTHERS_CPUS: f64 = 0.25;
/// Of the calls on a descriptor: so large a part on one file is named as that file alone.
pub(crate) const PART_OF_ONE_FILE: f64 = 0.95;
/// Of what a process waits in its polls: children that live for a shorter part are not what it
/// waits for.
pub(crate) const PART_OF_CHILDREN: f64 = 0.3;
/// Children whose lives add up to at most this multiple of the time they cover ran one at a time.
pub(crate) const OVERLAP_OF_SERIAL_CHILDREN: f64 = 1.15;
/// Own code from which on it is said how its functions get names: as much as a row must have to be
/// the answer.
pub(crate) const NAMES_SHARE: f64 = 0.2;
/// A main thread that waits for locks less than this part of its life does its own work.
pub(crate) const JOIN_SHARE: f64 = 0.2;
/// A main thread that runs at most this part of its life and otherwise waits for locks joins its
/// threads.
pub(crate) const CPU_OF_A_JOINER: f64 = 0.05;
/// A child that used less CPU than this was mostly made and thrown away: making one costs 0.5 to
/// 5 ms, an interpreter's start 10 to 20 ms.
pub(crate) const SHORT_CHILD_CPU_NS: f64 = 15e6;
/// A copy that runs no other program has no start: what it computes beyond a library's own part in
/// forking is work.
pub(crate) const SHORT_COPY_OWN_NS: f64 = 5e6;
/// An interpreter's start and end with a line of code: `python3` 13 to 30 ms, `node` 40, `java` 60.
pub(crate) const START_OF_INTERPRETER_CPU_NS: f64 = 60e6;
/// Starts take about the same each time, work doesn't: the long ones by the short ones (ninth and
/// first tenth).
pub(crate) const EVEN_STARTS: f64 = 1.6;
/// A version manager's shim starts about 30 processes; a habit starts hundreds.
pub(crate) const MANY_PROCESSES: usize = 60;
/// As many short children of one parent that run one program are a loop; a shim runs about ten of
/// one.
pub(crate) const MANY_OF_ONE_PROGRAM: usize = 20;
/// Threads that are made for pieces of work, and not as a pool.
pub(crate) const MANY_THREADS: u64 = 1_000;
/// Part of its life that a thread waits for something outside of the program, if that is what it is
/// there for.
pub(crate) const PART_OUTSIDE_OF_A_FEEDER: f64 = 0.5;
/// Part of its life that such a thread waits for locks at most: who queues holds locks too.
pub(crate) const PART_IN_LOCKS_OF_A_FEEDER: f64 = 0.05;
/// So many are made for each wait of their maker at most, if it awaits each: of some it needn't.
pub(crate) const THREADS_FOR_A_WAIT: u64 = 2;
/// Calls that making a thread, its waking and its end take at most, with a little work: glibc and
/// Rust 15, Java 25.
pub(crate) const CALLS_OF_A_THREAD: u64 = 40;
/// Part of the wall time that such a loop rules.
pub(crate) const LOOP_SHARE: f64 = 0.4;
/// To make, execute and await a small program, where no probe measured it.
pub(crate) const SPAWN_SECONDS: f64 = 700e-6;
/// A call, where neither a trace nor a probe measured it: 0.1 us on bare metal, 0.2 to 0.5 in VMs.
pub(crate) const CALL_SECONDS: f64 = 0.25e-6;
/// CPU time of fetching for each wait for a disk, at most, where nobody measured it: 0.4 to 1.6
/// times the wait in a VM.
pub(crate) const FETCH_CPU_PER_WAIT: f64 = 1.5;
/// Whoever asks so often for one path that isn't there, and then is, waits for it.
pub(crate) const LOOKUPS_OF_A_WAIT: u64 = 200;
/// Reads this large are not small.
pub(crate) const LARGE_READ_BYTES: f64 = 256.0 * 1024.0;
/// Less than this part of the wait needs no words.
pub(crate) const FETCH_CPU_WORTH_REPORTING: f64 = 0.1;
/// CPU time of a loop that only asks, for each ns of its calls: C adds 10 % to a call of 0.3 us,
/// Python three times as much.
pub(crate) const LOOP_PER_CALL: f64 = 5.0;
/// First touch of a page, where no probe measured it: 0.1 to 0.25 us on bare metal, 0.5 to 2 in
/// VMs.
pub(crate) const PAGE_FAULT_SECONDS: f64 = 0.5e-6;
/// A fault of a large page clears 2 MiB.
pub(crate) const MOST_OF_A_FAULT_NS: f64 = 300_000.0;
/// What one opening of a file brings, if it is a record: bytes at most, and parts of a file at
/// least.
pub(crate) const MOST_OF_A_RECORD: u64 = 4_096;
pub(crate) const RECORDS_OF_A_FILE: u64 = 4;
/// Fewer samples of a function say little of how long it ran: 20 are known within a half.
pub(crate) const LEAST_SAMPLES: u64 = 20;
/// Likewise of named functions, which are there if a sample is in them: only how long they took is
/// less sure.
pub(crate) const LEAST_SAMPLES_OF_NAMED: u64 = 10;
/// Part of a program's own code in functions of a library that optimisation leaves nowhere. An estimate:
/// an optimised program has no such functions.
pub(crate) const PART_OF_SMALL_FUNCTIONS: f64 = 0.15;
/// Of a thread that asks channels in a loop: so much of its own code is that. One that computes and
/// asks whether to stop spends up to a fifth.
pub(crate) const PART_OF_ASKING: f64 = 0.6;
/// A dozen of the 4 ms ticks by which the kernel splits CPU time.
pub(crate) const ENOUGH_TICKS_NS: f64 = 50e6;
/// Less of a run may be its start and end.
pub(crate) const LEAST_IN_CALLS_NS: f64 = 10e6;
/// 235 MiB: sound programs hold tens to 180 MiB of what they work on, and where a fault takes 3 us
/// even that is half of a run of 0.3 s (`ppbert` 0.8.4). More than this is worth a thought.
pub(crate) const MANY_FAULTS: u64 = 60_000;
/// Fewer are reported too where they take most of the time: 30 planes of 6 MiB that a filter took
/// anew took 65 % of it, three times as long as the filter. So many (78 MiB) no start makes.
pub(crate) const FAULTS_THAT_RULE: u64 = 20_000;
/// Part of the wall time, beyond what a sound program's memory takes in a VM where a fault takes 3
/// us (a half).
pub(crate) const FAULTS_RULE: f64 = 0.6;
/// Enough calls to divide the kernel's time by: a start makes some hundred, an interpreter's 1,000.
pub(crate) const CALLS_TO_DIVIDE_BY: f64 = 10_000.0;
/// A call that moves little takes 0.2 us on bare metal and up to 1.6 in VMs; what ticks say beyond
/// that is of something that the first calls don't show.
pub(crate) const DEAREST_SMALL_CALL_NS: f64 = 1_600.0;
/// Of the simplest call so much is charged to the program's own code by the kernel's ticks: 0.27 to 0.41
/// was measured on four hosts.
pub(crate) const LATE_PART_OF_A_CALL: f64 = 0.3;
/// Calls whose work depends on what they are asked for: so many, and such a part of all, may have
/// what no usual call takes; each of them no more than this. A new file took 30 to 450 us, a poll
/// of 900 descriptors 40, 256 KiB of random bytes 900.
pub(crate) const ELASTIC_CALLS: f64 = 300.0;
pub(crate) const PART_OF_ELASTIC_CALLS: f64 = 0.05;
/// Other calls that may take long: at most so many beside them, or nobody knows whose time it is.
pub(crate) const PART_OF_DEAR_OTHERS: f64 = 0.1;
pub(crate) const WEIGHT_OF_DEAR_CALLS: f64 = 5.0;
pub(crate) const DEAREST_ELASTIC_CALL_NS: f64 = 2_000_000.0;
/// Enough faults to divide the kernel's time outside of calls by.
pub(crate) const FAULTS_TO_DIVIDE_BY: u64 = 15_000;
/// Part of the wall time. Programs that hold their data in memory are sound: those that reach this
/// part with fewer than [`MANY_FAULTS`] aren't reported (`ppbert` 0.8.4 in a VM: 32 %), and those
/// with more compute longer on it (`sort` and `gcc` 5 to 15 %). 250 filled buffers of 1 MiB that
/// are read once: 27 %.
pub(crate) const FAULT_SHARE: f64 = 0.25;
/// An allocator that works asks the kernel a few hundred times.
pub(crate) const MANY_MEMORY_CALLS: u64 = 1_000;
/// Programs that read by mapping, as git does, map and unmap some thousand times.
pub(crate) const VERY_MANY_MEMORY_CALLS: u64 = 10_000;
/// Part of the wall time: `git log --stat` maps and unmaps the files it compares and spends 19 to
/// 22 % on it, which is how git works; programs that map for each request spend 85 % and more.
pub(crate) const MEMORY_CALLS_SHARE: f64 = 0.30;
/// The same where only the heap grows and shrinks, by glibc's own habit: `git log -p` spends 40 %
/// on that.
pub(crate) const HEAP_SHARE: f64 = 0.45;
/// Calls that move so much or more move blocks: C's standard library takes 4 KiB, the last block
/// less.
pub(crate) const BLOCK_BYTES: f64 = 2048.0;
/// Calls on paths without any on folders: no walk, but the same question again and again.
pub(crate) const MANY_STATS: u64 = 50_000;
/// One fsync at the end is a promise kept; one for each record is a pattern.
pub(crate) const MANY_SYNCS: u64 = 10;
/// One wait or two are chance: `cp` that meets a commit of the file system's journal.
pub(crate) const LEAST_DISK_WAITS: u64 = 3;
/// A file that is made anew so often in one run: each time may wait for what the time before wrote.
pub(crate) const MANY_OPENS_TO_REPLACE: u64 = 10;
/// Whoever is at the other end of a pipe is kept from a CPU by others for some slices of 3 to 4 ms:
/// five are chance, and no pace.
pub(crate) const LEAST_PACE_NS: f64 = 20e6;
/// Disk waits of fewer faults are the program's own start, unless they take [`LONG_FETCH_NS`]:
/// where the kernel reads ahead by megabytes, 38 faults of a mapped file of 200 MB took 313 ms.
pub(crate) const MANY_MAJOR_FAULTS: u64 = 100;
/// So many engines that ended before their process are one for each piece of work.
pub(crate) const MANY_ENGINES: usize = 10;
/// Of the life of its process, what lives longer is kept.
pub(crate) const PART_OF_A_PROCESS: f64 = 0.4;
/// Where the tree answers its own requests what is left of waiting is mostly waking each other.
pub(crate) const SHARE_OF_OWN_REPLIES: f64 = 0.3;
/// Opening a library so often is no loading of libraries.
pub(crate) const MANY_OPENS_OF_A_LIBRARY: u64 = 50;
/// A poll of one descriptor takes 0.5 µs, one that sleeps some µs more, and each further descriptor
/// 80 ns.
pub(crate) const LONG_SCAN_NS: f64 = 20e3;
/// Part of the wall time: a program that searches hundreds of folders misses a tenth of the time,
/// and one that does little else a sixth.
pub(crate) const MISSES_SHARE: f64 = 0.15;
/// Such a program finds a folder or a file for every few that it misses. One of whose lookups so
/// many miss finds nothing by them.
pub(crate) const NEARLY_ALL_MISS: f64 = 0.9;
/// And who searches folders does it some thousand times.
pub(crate) const MISSES_OF_NO_SEARCH: u64 = 10_000;
/// Files of settings are no larger, bytes.
pub(crate) const MOST_OF_A_SETTINGS_FILE: f64 = 32.0 * 1024.0;
/// A configuration file may be read a few times.
pub(crate) const MANY_OPENS_OF_ONE_FILE: u64 = 50;
/// A larger file that is mapped is worth it: the loader's cache and libraries are.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Part of all CPUs that busy threads use at most where they were bound to some and others were
/// idle.
pub(crate) const CPUS_USED_BY_BOUND: f64 = 0.75;
/// The buffers of streams: 4 KiB in C and Rust's older ones, 8 in C++, Java, Python and Rust, 16
/// and more where it was asked for.
pub(crate) const BUFFER_OF_A_STREAM: u64 = 16 << 10;
/// A file that is accessed at random by seeks holds at least so many of the pieces that are read of it: of
/// fewer all is read again.
pub(crate) const PIECES_OF_A_FILE: u64 = 8;
/// Files that are opened for so few bytes each: sources and settings have several KiB on average,
/// and whoever must read what is there has no choice.
pub(crate) const TINY_FILE_BYTES: f64 = 1024.0;
/// So many files are data that somebody chose to keep so. 1 ms at 10 us for each is nothing.
pub(crate) const MANY_TINY_FILES: u64 = 2_000;
/// First touches for each page that a program ever had at once: more are of memory that it gave
/// back.
pub(crate) const TOUCHED_AGAIN: u64 = 8;
/// So many calls are enough where that is so.
pub(crate) const MANY_MEMORY_CALLS_TOUCHED_AGAIN: u64 = 100;
/// Of what a process reads: a file that is so large a part of it is what its own code works on.
pub(crate) const PART_OF_INPUT: f64 = 0.5;
/// Part of their CPU time that threads spin for a lock, so that it is reported.
pub(crate) const SPINNING_WORTH_REPORTING: f64 = 0.1;
/// The quickest parsers take so long for a byte: simdjson 0.3 to 0.5 ns.
pub(crate) const QUICKEST_PARSING_NS_PER_BYTE: f64 = 0.3;
/// The slowest work that is a parser's: OpenSSL takes 90 to 130 ns for each byte of a bundle of certificates.
pub(crate) const SLOWEST_PARSING_NS_PER_BYTE: f64 = 1_000.0;
/// Work on what was read that is this part of the calls for it needs words.
pub(crate) const WORK_WORTH_REPORTING: f64 = 0.2;
/// The library around calls is reported from this part of what they cost in the kernel on: below
/// it the two, rounded, are what the calls alone are.
pub(crate) const LIBRARY_WORTH_REPORTING: f64 = 0.03;
/// Bytes that a whole small file brings; a poll for news brings less.
pub(crate) const LEAST_OF_A_ROUND: u64 = 512;
/// Programs linked to a desktop's worth of libraries; ordinary ones have 1 to 25.
pub(crate) const MANY_LIBRARIES: usize = 40;
/// Linux delays an ACK by 40 ms, some systems by up to 200.
pub(crate) const DELAYED_ACK_NS: [(f64, f64); 2] = [(38e6, 46e6), (196e6, 210e6)];
/// Fewer may be a server that takes 40 ms.
pub(crate) const LEAST_STALLS: u64 = 4;
/// Turns of a loop that asks without waiting.
pub(crate) const MANY_POLLS: u64 = 3_000;
/// A sleep that is shorter than this is no sleep: timers have a slack of 50 us.
pub(crate) const SHORTEST_SLEEP_NS: f64 = 120e3;
/// Queueing for one lock again and again, by each of several threads.
pub(crate) const MANY_LOCK_WAITS: u64 = 15;
/// The same for locks on files: whoever waits for one waits for nothing else.
pub(crate) const MANY_FILE_LOCK_WAITS: u64 = 5;
/// Of the time in waits for locks: a thread that ended so much of it, or waited so for the others,
/// hands out the work. The idle threads of `lld`: 0.997.
pub(crate) const PART_OF_A_HUB: f64 = 0.95;
/// A thread that has less of the CPU than this part of what each of the others has, and waits so
/// often in relation to all of them, gives them one job after the other and awaits each. Of a Java
/// executor: 300 of 311. Who joins threads waits once for each.
pub(crate) const PART_OF_A_GIVER: f64 = 0.7;
pub(crate) const CPU_OF_A_GIVER: f64 = 0.5;
/// Who is woken and finds the lock taken spins for no longer than this before it sleeps again.
pub(crate) const RETRY_OF_A_LOCK_NS: u64 = 100_000;
/// Part of their lives that threads queue when a lock rules them.
pub(crate) const LOCK_SHARE: f64 = 0.2;
/// Two threads that are in `pthread_spin_lock` for this part of their own code each fight for a
/// lock.
pub(crate) const PART_IN_SPIN_LOCK: f64 = 0.25;
/// Whoever holds a lock that others queue for runs or is ready: the queue's threads do so for so
/// much of the time that passes. Contended locks reach 0.9; a timer's thread that works now and
/// then 0.4.
pub(crate) const ABLE_HOLDER: f64 = 0.6;
/// Threads that write to a pipe and wait for its reader this part of their time would wait for it
/// all the longer if they took no turns.
pub(crate) const PACED_BY_READER: f64 = 0.2;

/// Threads that take turns at sleeping: what they do adds up to so much of the time that passes.
/// Gaps between two turns and ends without the lock are the rest.
pub(crate) const LEAST_OF_TURNS: f64 = 0.7;
/// The same at most.
pub(crate) const MOST_OF_TURNS: f64 = 1.25;
/// A thread that takes turns at sleeping spends so much of its life on it: twenty threads that
/// share a lock have a twentieth each.
pub(crate) const PART_OF_A_TURN: f64 = 0.04;
/// Of waits for a lock: so large a part is ended by another thread that waits for it too.
pub(crate) const PART_HANDED_ON: f64 = 0.7;
/// Of a process's CPU time: threads that queue have so much of it, together. Who prepares the work,
/// and who got the lock whenever he wanted it, have the rest.
pub(crate) const PART_OF_QUEUES: f64 = 0.55;
/// Of an equal part of the CPU time: threads that share work have at least so much of it each.
pub(crate) const PART_OF_A_WORKER: f64 = 0.3;
/// Below this much CPU time for each wait the hand-over costs more than the work: it's a storm of
/// wake-ups, not a queue. A wake-up costs 3 to 40 us.
pub(crate) const STORM_CPU_PER_WAIT_NS: f64 = 40e3;
/// The same without what the calls take by which one waits and wakes the other: 20 to 40 us a
/// hand-over in a VM, so that a program does less than it hands over.
pub(crate) const STORM_WORK_PER_WAIT_NS: f64 = 20e3;
/// Where calls are not distinguished, what takes more in the kernel than this between two waits is
/// no hand-over.
pub(crate) const STORM_KERNEL_PER_WAIT_NS: f64 = 150e3;
/// What one of many waits takes of the kernel's time: leaving the CPU, being woken and coming back.
/// 2 us on bare metal, 20 in VMs.
pub(crate) const SWITCH_NS: f64 = 20e3;
/// Part of that by which it may be more: 28 us where a neighbour shared the core.
pub(crate) const SWITCH_SCATTER: f64 = 0.5;
/// Waits that make a storm.
pub(crate) const MANY_WAKEUPS: u64 = 4_000;
/// Part of the run in which no other program had the CPU. Below this the neighbours decide which
/// thread waits for which: `rustc`'s linker seemed to queue for locks while it waited for a CPU 87
/// % of the time.
pub(crate) const LEAST_QUIET: f64 = 0.2;
/// Part of the busy threads' delay that the command's own way to its end was off a CPU at least, if
/// that delayed it.
pub(crate) const DELAY_ON_PATH: f64 = 0.5;
/// Threads that want a CPU, for each CPU there is.
pub(crate) const OVERSUBSCRIBED_PER_CPU: f64 = 2.0;
/// Up to so many have one each, nearly: lives overlap a little.
pub(crate) const ONE_FOR_EACH: f64 = 1.2;
/// Threads of a start are many for a moment: git's that stat files ahead of time wait for 7 ms
/// each.
pub(crate) const LEAST_DELAY_NS: f64 = 20e6;
/// A lock that is fought over: so many calls of each thread, and so few of them sleep.
pub(crate) const CALLS_FOR_A_LOCK: u64 = 5_000;
/// See [`CALLS_FOR_A_LOCK`].
pub(crate) const CALLS_FOR_A_SLEEP: u64 = 5;
/// What the threads slept for it, in all, of what its calls cost: where they sleep longer, that is
/// what is slow.
pub(crate) const SLEPT_OF_THRASHING: f64 = 2.0;
/// What idle CPUs must cost: git's threads check its index for 20 ms, and in so short a time it is
/// chance which of them gets how much.
pub(crate) const LEAST_PARALLEL_SAVING_NS: f64 = 10e6;
/// Results of one thread that are waited for in turn: Java's main thread waits for the pool's
/// start, and for one job's end.
pub(crate) const LEAST_RESULTS: usize = 6;
/// Of the CPU time of a pool of processes: so much of it in one is all the work.
pub(crate) const PART_OF_THE_BUSIEST: f64 = 0.9;
/// A thread that ran this part of the wall time is the one that all wait for.
pub(crate) const BUSY_THREAD: f64 = 0.8;
/// Kernel time without a better name.
pub(crate) const KERNEL_SHARE: f64 = 0.2;
/// So large a part of the wall time in one call that moves nothing to or from a file is worth its
/// name, in however large pieces it is called.
pub(crate) const SHARE_OF_ONE_CALL: f64 = 0.5;
/// A start that takes this part of the wall time is about as long as the work.
pub(crate) const START_SHARE: f64 = 0.4;
/// The same where the time is that of another run.
pub(crate) const START_SHARE_MODELLED: f64 = 0.35;
/// Files touched before the first output, in a start worth shortening; `python3` touches 60,
/// `node` 30, `git` 20.
pub(crate) const MANY_START_FILES: usize = 150;
/// Sources that are compiled at each start: a script has one or two modules of its own, and a program
/// whose compiled forms are kept none.
pub(crate) const SOURCES_OF_NOTE: usize = 5;
/// A runtime's own start that is worth reporting beside what a program loads.
pub(crate) const RUNTIME_OF_NOTE_NS: f64 = 5e6;
/// A start that people notice who start the program again and again: of 600 small modules of Node
/// 90 ms on one machine, 65 on a faster one.
pub(crate) const LONG_START_NS: f64 = 60e6;
/// A wait for the disk that people notice; half as long where it is so large a part of the wall
/// time.
pub(crate) const LONG_FETCH_NS: f64 = 100e6;
pub(crate) const FETCH_RULES: f64 = 0.3;
/// Part of the wall time that samples may miss before it is said: a run of some milliseconds gives
/// few.
pub(crate) const UNSAMPLED_SHARE: f64 = 0.3;

/// A wrapper ends with the program that it wraps: what it does after that is less than this part of
/// the run.
pub(crate) const AFTER_THE_WRAPPED: f64 = 0.1;
/// A server that has accepted no more than one connection in so long has nothing to do, ns. Those
/// of `http.server` look about them twice a second.
pub(crate) const IDLE_SERVER_NS: u64 = 200_000_000;
/// A part of the run that nobody may see is reported from here on.
pub(crate) const HIDDEN_OF_RUN: f64 = 0.02;
/// Traced runs that took so much of the untraced ones' time are like them: medians of three runs on
/// a quiet machine differ by a few per cent, and a tenth is promised in the output.
pub(crate) const LEAST_LIKE_UNTRACED: f64 = 0.9;
/// The same for longer ones.
pub(crate) const MOST_LIKE_UNTRACED: f64 = 1.1;
/// A busy machine: part of the wall time that timed runs had to wait for a CPU.
pub(crate) const NEIGHBOURS_SHARE: f64 = 0.1;
/// Pauses of so long are a loop that asks whether another thread is done, if one computes
/// meanwhile; on a busy machine they get several times as long as they were asked to be.
pub(crate) const PAUSE_OF_AN_ASKER_NS: f64 = 4.0 * SHORTEST_SLEEP_NS;
/// Neighbours are warned of if the critical path was ready and not running for this part.
pub(crate) const READY_SHARE: f64 = 0.25;
/// Polls end because another thread of the process wrote to a pipe or an eventfd if so many of them
/// are followed by reading it.
pub(crate) const PART_SIGNALLED_BY_THREADS: f64 = 0.3;
/// Of the time in polls: they are pauses if their time limits ended so much of it.
pub(crate) const PART_BY_LIMIT: f64 = 0.5;
/// The same where nothing else ended polls that took time.
pub(crate) const ALL_BY_LIMIT: f64 = 0.95;
/// Looking by stopping ends after [`TIME_OF_A_BUDGET_NS`], and a stop takes 10 to 150 us: fewer
/// calls than this by then came slowly by themselves.
pub(crate) const FEW_IN_A_BUDGET: u64 = 9_000;
/// See [`FEW_IN_A_BUDGET`].
pub(crate) const TIME_OF_A_BUDGET_NS: f64 = 2e9;
/// So many calls in the second half of what was traced show what a program goes on with.
pub(crate) const CALLS_OF_A_HABIT: u64 = 1_000;
/// Reads and writes are part of what is done again and again if they are this part of the calls.
pub(crate) const PART_OF_A_ROUND: f64 = 0.05;
/// What the kernel takes to copy a byte, in ns: 8 GB/s.
pub(crate) const COPY_NS_PER_BYTE: f64 = 0.12;
/// They mostly wait if no more of their CPU time than this is work: where it is, they lack CPUs.
pub(crate) const WORK_OF_A_WAITING_TEAM: f64 = 0.5;
