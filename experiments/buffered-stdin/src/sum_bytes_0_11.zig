//! Sums the bytes of standard input and prints how long that took by its own clock.
//!
//!     sum_bytes unbuffered|buffered
//!
//! For Zig 0.11, the compiler of the published program. `unbuffered` reads from the file, one read(2) per byte;
//! `buffered` puts a bufferedReader (4 KiB) around it.

const std = @import("std");

fn sum(input: anytype) !usize {
    var total: usize = 0;
    while (input.readByte()) |byte| {
        total += byte;
    } else |why| if (why != error.EndOfStream) return why;
    return total;
}

pub fn main() !void {
    if (std.os.argv.len != 2) {
        std.debug.print("usage: sum_bytes unbuffered|buffered\n", .{});
        std.process.exit(2);
    }
    const unbuffered = std.mem.eql(u8, std.mem.span(std.os.argv[1]), "unbuffered");
    const file = std.io.getStdIn().reader();
    var timer = try std.time.Timer.start();

    const total = if (unbuffered) try sum(file) else total: {
        var buffered = std.io.bufferedReader(file);
        break :total try sum(buffered.reader());
    };

    const took: f64 = @floatFromInt(timer.read());
    try std.io.getStdOut().writer().print("sum {d}, took {d:.3} us\n", .{ total, took / 1e3 });
}
