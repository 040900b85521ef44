//! Counts the bytes of standard input, one read(2) per byte, and prints how long it took by its own clock.
//! For Zig 0.11, the compiler of the published program, where a file's reader has no buffer.

const std = @import("std");

pub fn main() !void {
    const input = std.io.getStdIn().reader();
    var timer = try std.time.Timer.start();

    var count: usize = 0;
    while (input.readByte()) |_| : (count += 1) {} else |why| if (why != error.EndOfStream) return why;

    const took: f64 = @floatFromInt(timer.read());
    try std.io.getStdOut().writer().print("{d} bytes, took {d:.3} us\n", .{ count, took / 1e3 });
}
