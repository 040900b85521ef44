//! Counts the bytes of standard input, one read call per byte, and prints how long it took by its own clock.
//! For Zig 0.16 and 0.17, whose readers take a buffer from the caller: here, none.

const std = @import("std");
const File = std.Io.File;

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    const start = std.Io.Clock.awake.now(io);
    var reader = File.stdin().readerStreaming(io, &.{});

    var count: usize = 0;
    var byte: [1]u8 = undefined;
    while (try reader.interface.readSliceShort(&byte) == 1) count += 1;

    const took: f64 = @floatFromInt(start.untilNow(io, .awake).nanoseconds);
    var line: [64]u8 = undefined;
    var writer = File.stdout().writerStreaming(io, &line);
    try writer.interface.print("{d} bytes, took {d:.3} us\n", .{ count, took / 1e3 });
    try writer.interface.flush();
}
