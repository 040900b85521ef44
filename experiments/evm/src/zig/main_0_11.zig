//! The published variants, for Zig 0.11, their compiler. Runs bytecode from standard input and prints its
//! result, the gas, and the time by its own clock.
//!
//!     zvm unbuffered|buffered|fixed
//!
//! `unbuffered` makes a read(2) for each byte, `buffered` reads 4 KiB. Both allocate from the
//! GeneralPurposeAllocator; `fixed` is `buffered` with 2,000 bytes on the stack instead.

const std = @import("std");
const Machine = @import("machine.zig").Machine;

const Way = enum { unbuffered, buffered, fixed };

fn Input(comptime Reader: type) type {
    return struct {
        reader: Reader,

        pub fn next(input: @This()) !?u8 {
            return input.reader.readByte() catch |why| if (why == error.EndOfStream) null else why;
        }
    };
}

fn runFrom(machine: *Machine, reader: anytype) ![]u8 {
    return machine.run(Input(@TypeOf(reader)){ .reader = reader });
}

fn run(machine: *Machine, way: Way) ![]u8 {
    const file = std.io.getStdIn().reader();
    if (way == .unbuffered) return runFrom(machine, file);
    var buffered = std.io.bufferedReader(file);
    return runFrom(machine, buffered.reader());
}

pub fn main() !void {
    const word = if (std.os.argv.len == 2) std.mem.span(std.os.argv[1]) else "";
    const way = std.meta.stringToEnum(Way, word) orelse {
        std.debug.print("usage: zvm unbuffered|buffered|fixed < BYTECODE\n", .{});
        std.process.exit(2);
    };
    var timer = try std.time.Timer.start();

    var general = std.heap.GeneralPurposeAllocator(.{}){};
    var bytes: [2000]u8 = undefined;
    var fixed = std.heap.FixedBufferAllocator.init(&bytes);
    const allocator = if (way == .fixed) fixed.allocator() else general.allocator();
    var machine = Machine{ .allocator = allocator };
    defer machine.deinit();
    const output = try run(&machine, way);
    defer allocator.free(output);

    const took: f64 = @floatFromInt(timer.read());
    try std.io.getStdOut().writer().print(
        "output:         0x{s}\ngas used:       {d}\nexecution time: {d:.3} us\n",
        .{ std.fmt.fmtSliceHexLower(output), machine.gas, took / 1e3 },
    );
}
