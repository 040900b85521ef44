//! The published variants, for Zig 0.16 and 0.17, whose readers take a buffer from the caller. Runs
//! bytecode from standard input and prints its result, the gas, and the time by its own clock.
//!
//!     zvm unbuffered|buffered|fixed|default
//!
//! `unbuffered` has a buffer of one byte, `buffered` of 4 KiB. Both use the DebugAllocator, the new name
//! of 0.11's GeneralPurposeAllocator; `fixed` is `buffered` with 2,000 bytes on the stack instead,
//! `default` with the allocator that main receives today.

const std = @import("std");
const Machine = @import("machine.zig").Machine;
const File = std.Io.File;

const Way = enum { unbuffered, buffered, fixed, default };

const Input = struct {
    reader: *std.Io.Reader,

    pub fn next(input: Input) !?u8 {
        return input.reader.takeByte() catch |why| if (why == error.EndOfStream) null else why;
    }
};

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    var words = init.minimal.args.iterate();
    _ = words.skip();
    const way = std.meta.stringToEnum(Way, words.next() orelse "") orelse {
        std.debug.print("usage: zvm unbuffered|buffered|fixed|default < BYTECODE\n", .{});
        std.process.exit(2);
    };
    const start = std.Io.Clock.awake.now(io);

    var debug: std.heap.DebugAllocator(.{}) = .init;
    var bytes: [2000]u8 = undefined;
    var fixed: std.heap.FixedBufferAllocator = .init(&bytes);
    const allocator = switch (way) {
        .unbuffered, .buffered => debug.allocator(),
        .fixed => fixed.allocator(),
        .default => init.gpa,
    };
    var buffer: [4096]u8 = undefined;
    var file = File.stdin().readerStreaming(io, if (way == .unbuffered) buffer[0..1] else &buffer);
    var machine: Machine = .{ .allocator = allocator };
    defer machine.deinit();
    const output = try machine.run(Input{ .reader = &file.interface });
    defer allocator.free(output);

    const took: f64 = @floatFromInt(start.untilNow(io, .awake).nanoseconds);
    var line: [256]u8 = undefined;
    var writer = File.stdout().writerStreaming(io, &line);
    try writer.interface.print(
        "output:         0x{x}\ngas used:       {d}\nexecution time: {d:.3} us\n",
        .{ output, machine.gas, took / 1e3 },
    );
    try writer.interface.flush();
}
