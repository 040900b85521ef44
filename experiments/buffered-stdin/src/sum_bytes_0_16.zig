//! Sums the bytes of standard input and prints how long that took by its own clock.
//!
//!     sum_bytes unbuffered|buffered
//!
//! For Zig 0.16 and 0.17, whose readers take a buffer from the caller: `unbuffered` passes one of one
//! byte, `buffered` one of 4 KiB, the size in Zig 0.11's bufferedReader.

const std = @import("std");
const File = std.Io.File;

fn sum(io: std.Io, buffer: []u8) !usize {
    var reader = File.stdin().readerStreaming(io, buffer);
    var total: usize = 0;
    while (reader.interface.takeByte()) |byte| {
        total += byte;
    } else |why| if (why != error.EndOfStream) return why;
    return total;
}

pub fn main(init: std.process.Init) !void {
    const io = init.io;
    var words = init.minimal.args.iterate();
    _ = words.skip();
    const way = words.next() orelse {
        std.debug.print("usage: sum_bytes unbuffered|buffered\n", .{});
        std.process.exit(2);
    };
    const unbuffered = std.mem.eql(u8, way, "unbuffered");
    var buffer: [4096]u8 = undefined;
    const start = std.Io.Clock.awake.now(io);

    const total = try sum(io, if (unbuffered) buffer[0..1] else &buffer);

    const took: f64 = @floatFromInt(start.untilNow(io, .awake).nanoseconds);
    var line: [64]u8 = undefined;
    var writer = File.stdout().writerStreaming(io, &line);
    try writer.interface.print("sum {d}, took {d:.3} us\n", .{ total, took / 1e3 });
    try writer.interface.flush();
}
