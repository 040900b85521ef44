// The hello without std.Io, whose interface changes with each release.
const std = @import("std");
pub fn main() void {
    const text = "hello\n";
    _ = std.os.linux.write(1, text, text.len);
}
