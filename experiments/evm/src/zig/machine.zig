//! An interpreter that runs opcodes as it reads them, with the opcodes of programs without jumps. The published
//! program can't have kept the code, because 3,007 bytes don't fit into its allocator of 2,000. For the same reason,
//! the stack is in the machine; memory and output come from the allocator.
//! Every version of Zig from 0.11 on compiles this file.

const std = @import("std");

const stop = 0x00;
const add = 0x01;
const mstore = 0x52;
const push0 = 0x5f;
const push32 = 0x7f;
const @"return" = 0xf3;

/// The maximum memory in bytes; its gas would exceed every limit long before.
const memory_limit = 1 << 20;

pub const Failure = error{ StackUnderflow, StackOverflow, UnsupportedOpcode, OutOfMemory };

pub const Machine = struct {
    allocator: std.mem.Allocator,
    stack: [1024]u256 = undefined,
    height: usize = 0,
    memory: []u8 = &.{},
    gas: u64 = 0,

    pub fn deinit(machine: *Machine) void {
        machine.allocator.free(machine.memory);
    }

    /// Runs the opcodes from `input.next()` until that is null, and returns the output, which the caller frees.
    pub fn run(machine: *Machine, input: anytype) ![]u8 {
        while (try input.next()) |opcode| switch (opcode) {
            stop => break,
            add => {
                machine.gas += 3;
                const a = try machine.pop();
                const b = try machine.pop();
                try machine.push(a +% b);
            },
            mstore => {
                machine.gas += 3;
                const offset = try machine.pop();
                const word = try machine.pop();
                const place = try machine.expand(offset, 32);
                for (place, 0..) |*byte, i| byte.* = @truncate(word >> @intCast(8 * (31 - i)));
            },
            push0...push32 => {
                machine.gas += if (opcode == push0) 2 else 3;
                var word: u256 = 0;
                for (0..opcode - push0) |_| word = word << 8 | (try input.next() orelse 0);
                try machine.push(word);
            },
            @"return" => {
                const offset = try machine.pop();
                const length = try machine.pop();
                return machine.allocator.dupe(u8, try machine.expand(offset, length));
            },
            else => return Failure.UnsupportedOpcode,
        };
        return machine.allocator.alloc(u8, 0);
    }

    fn push(machine: *Machine, word: u256) Failure!void {
        if (machine.height == machine.stack.len) return Failure.StackOverflow;
        machine.stack[machine.height] = word;
        machine.height += 1;
    }

    fn pop(machine: *Machine) Failure!u256 {
        if (machine.height == 0) return Failure.StackUnderflow;
        machine.height -= 1;
        return machine.stack[machine.height];
    }

    /// Extends the memory in whole words to cover `length` bytes from `offset`, and returns those bytes.
    fn expand(machine: *Machine, offset: u256, length: u256) Failure![]u8 {
        if (length == 0) return machine.memory[0..0];
        if (offset > memory_limit or length > memory_limit) return Failure.OutOfMemory;
        const start: usize = @intCast(offset);
        const end = start + @as(usize, @intCast(length));
        const words = (end + 31) / 32;
        const before = machine.memory.len / 32;
        if (words > before) {
            machine.gas += cost(words) - cost(before);
            machine.memory = try machine.allocator.realloc(machine.memory, words * 32);
            @memset(machine.memory[before * 32 ..], 0);
        }
        return machine.memory[start..end];
    }
};

/// Returns the gas for `words` words of memory in total.
fn cost(words: usize) u64 {
    return 3 * words + words * words / 512;
}
