//! The build file for `zig build run`, which started the published program. For Zig 0.11.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const program = b.addExecutable(.{
        .name = "count_bytes",
        .root_source_file = .{ .path = "count_bytes_0_11.zig" },
        .optimize = .ReleaseFast,
    });
    b.installArtifact(program);
    b.step("run", "Build the counter and run it").dependOn(&b.addRunArtifact(program).step);
}
