//! What to change where a file is read or written in small pieces, by the language of the program.

use crate::language::Language;

/// What to say where the file is opened for each call (`reopened`), and where it is kept open.
pub(super) fn of_file(language: Option<Language>, writes: bool, reopened: bool) -> String {
    let buffer = match (language, writes) {
        (Some(Language::Shell), _) if reopened => {
            return "Redirect the whole loop (`done >> file`), not each `echo`: the file is then opened once."
                .to_owned();
        }
        (Some(Language::Shell), true) => {
            "Let one command write the whole, not an `echo` each piece."
        }
        (Some(Language::Shell), false) => {
            "`read` takes a byte a call (dash), or goes back after each line: give the whole file to one `awk`."
        }
        (Some(Language::Rust), false) => "`let mut file = std::io::BufReader::new(file);`",
        (Some(Language::Rust), true) => {
            "`let mut file = std::io::BufWriter::new(file);`, and flush it at the end."
        }
        (Some(Language::C), false) => "Use `fread` on a `FILE`, or read blocks of 64 KiB.",
        (Some(Language::C), true) => {
            "Use `fwrite` on a `FILE` without `fflush` and `setvbuf`, or write blocks of 64 KiB."
        }
        (Some(Language::Go), false) => "`in := bufio.NewReader(file)`: read from it.",
        (Some(Language::Go), true) => {
            "`out := bufio.NewWriter(file); defer out.Flush()`: write into it."
        }
        (Some(Language::Python), false) => {
            "Read larger blocks; leave out `buffering=0`, and `os.read` of few bytes."
        }
        (Some(Language::Python), true) => {
            "Leave out `buffering=0` or `buffering=1` and `flush`, or write larger blocks."
        }
        (Some(Language::Node), false) => "Read blocks of 64 KiB, or use a stream.",
        (Some(Language::Node), true) => "Collect the pieces and write blocks, or use a stream.",
        (Some(Language::Java), false) => {
            "Put a `BufferedInputStream` around the file; read blocks into an array from a `RandomAccessFile`."
        }
        (Some(Language::Java), true) => {
            "Put a `BufferedOutputStream` around the file; write blocks from an array to a `RandomAccessFile`."
        }
        (Some(Language::Perl), false) => {
            "Read by `<$file>` or `read`, which have a buffer, not by `sysread`."
        }
        (Some(Language::Perl), true) => {
            "Leave out `autoflush` (`$| = 1`), which makes each `print` a call, and `print` instead of `syswrite`."
        }
        (Some(Language::Ruby), true) => "Leave out `sync = true`, and use `write`, not `syswrite`.",
        (Some(Language::Ruby) | None, false) => "Read blocks of some 64 KiB.",
        (None, true) => "Write through a buffer of some 64 KiB.",
    };
    match reopened {
        true => format!("Keep the file open. {buffer}"),
        false => buffer.to_owned(),
    }
}
