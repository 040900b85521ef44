//! Finds the object at an address that a page fault touched.
//!
//! For each process, this keeps everything that the process mapped, executable or not. Removed or moved
//! mappings (`munmap`, `mremap`) aren't recorded: an address belongs to the last mapping there.

use std::rc::Rc;

/// Maximum number of mappings per process; the oldest are dropped first.
const MOST: usize = 4_096;
/// Maximum distance in bytes of a stack access below the stack pointer: a page.
const BELOW: u64 = 4_096;
/// Maximum distance in bytes of a stack access above the stack pointer. The mapping of a thread's stack may
/// contain other things, so for such a stack this is the range that certainly belongs to it. Nothing is
/// mapped above the first thread's stack, so its limit is one that no stack exceeds.
const ABOVE: u64 = 64 << 10;
const LONGEST: u64 = 64 << 20;

/// The kernel's name of an anonymous mapping.
const ANONYMOUS: &str = "//anon";
/// The kernel's name of shared memory without a file.
const SHARED: &str = "/dev/zero (deleted)";
/// The name used for the first of these; the next constant is that for the second.
const MAPPING: &str = "anonymous mapping";
const SHARED_MAPPING: &str = "shared anonymous mapping";
const STACK: &str = "[stack]";
const HEAP: &str = "[heap]";

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub from: u64,
    pub length: u64,
    /// The kernel's name for it.
    pub name: Rc<str>,
    pub is_writable: bool,
    pub is_executable: bool,
}

impl Area {
    fn end(&self) -> u64 {
        self.from.saturating_add(self.length)
    }

    fn holds(&self, address: u64) -> bool {
        (self.from..self.end()).contains(&address)
    }

    fn is_file(&self) -> bool {
        self.name.starts_with('/') && !self.name.starts_with("//") && &*self.name != SHARED
    }
}

/// All mappings of a process in order of time; shared with the parent process until one of them changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Areas(Rc<Vec<Area>>);

impl Areas {
    /// Adds the next mapping.
    pub(crate) fn add(&mut self, area: Area) {
        let areas = Rc::make_mut(&mut self.0);
        areas.retain(|under| !(area.from <= under.from && under.end() <= area.end()));
        if areas.len() >= MOST {
            areas.remove(0);
        }
        areas.push(area);
    }

    /// Returns the object that a thread with this stack pointer touched at this address: the path of a file,
    /// the data of a program, or a kind of memory. `None` if it is unknown.
    pub(crate) fn touched(&self, address: u64, stack_pointer: Option<u64>) -> Option<String> {
        let Some((at, area)) = self.find(address) else {
            let is_first_threads = stack_pointer.is_some_and(|pointer| {
                let of = self.find(pointer);
                of.is_none_or(|(_, area)| &*area.name == STACK)
                    && is_near(address, pointer, LONGEST)
            });
            return is_first_threads.then(|| "stack".to_owned());
        };
        let is_stack = || {
            stack_pointer
                .is_some_and(|pointer| area.holds(pointer) && is_near(address, pointer, ABOVE))
        };
        Some(match &*area.name {
            STACK => "stack".to_owned(),
            HEAP => "heap".to_owned(),
            SHARED => SHARED_MAPPING.to_owned(),
            ANONYMOUS if is_stack() => "stack".to_owned(),
            ANONYMOUS => match self.data_before(at, area) {
                Some(data) => data,
                None => MAPPING.to_owned(),
            },
            name => self.data(area).unwrap_or_else(|| name.to_owned()),
        })
    }

    fn find(&self, address: u64) -> Option<(usize, &Area)> {
        let areas = self.0.iter().enumerate();
        areas.rev().find(|(_, area)| area.holds(address))
    }

    /// Returns, for example, `data of libc.so.6` for the writable data of a program or library.
    fn data(&self, area: &Area) -> Option<String> {
        let has_code = || {
            let mut areas = self.0.iter();
            areas.any(|other| other.is_executable && other.name == area.name)
        };
        let name = area.name.rsplit('/').next().unwrap_or(&area.name);
        (area.is_file() && area.is_writable && has_code()).then(|| format!("data of {name}"))
    }

    /// Does the same for data that has no bytes in the file: it directly follows the file's data, and is
    /// mapped after it.
    fn data_before(&self, at: usize, area: &Area) -> Option<String> {
        let mut before = self.0[..at].iter().rev();
        before.find_map(|one| self.data(one).filter(|_| one.end() == area.from))
    }
}

fn is_near(address: u64, pointer: u64, above: u64) -> bool {
    (pointer.saturating_sub(BELOW)..pointer.saturating_add(above)).contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(mapped: &[(&str, u64, u64, &str)]) -> Areas {
        let mut areas = Areas::default();
        for (name, from, to, rights) in mapped {
            areas.add(Area {
                from: *from,
                length: to - from,
                name: (*name).into(),
                is_writable: rights.contains('w'),
                is_executable: rights.contains('x'),
            });
        }
        areas
    }

    fn of(areas: &Areas, address: u64) -> Option<String> {
        areas.touched(address, Some(0x7fff_0000))
    }

    #[test]
    fn an_address_is_a_file_data_or_memory() {
        let program = areas(&[
            ("/bin/a", 0x1000, 0x2000, "r"),
            ("/bin/a", 0x2000, 0x3000, "rx"),
            ("/bin/a", 0x3000, 0x5000, "rw"),
            ("//anon", 0x5000, 0x9000, "rw"),
            ("[heap]", 0xa000, 0xc000, "rw"),
            ("/data/in", 0x10_000, 0x20_000, "rw"),
            ("//anon", 0x20_000, 0x40_000, "rw"),
            ("/dev/zero (deleted)", 0x50_000, 0x60_000, "rw"),
            ("[stack]", 0x7ffe_f000, 0x7fff_f000, "rw"),
        ]);
        for (address, words) in [
            (0x1004, "/bin/a"),
            (0x2004, "/bin/a"),
            (0x3004, "data of a"),
            (0x5004, "data of a"),
            (0xb000, "heap"),
            (0x1_8000, "/data/in"),
            (0x2_0000, "anonymous mapping"),
            (0x5_0000, "shared anonymous mapping"),
            (0x7fff_1000, "stack"),
        ] {
            assert_eq!(of(&program, address).as_deref(), Some(words), "{address:x}");
        }
        assert_eq!(of(&program, 0xf000), None);
    }

    #[test]
    fn what_was_mapped_last_counts_and_data_lies_behind_what_was_there_before() {
        let mut changed = areas(&[
            ("//anon", 0x5000, 0x6000, "rw"),
            ("/lib/b", 0x1000, 0x5000, "rx"),
            ("/lib/b", 0x4000, 0x5000, "rw"),
        ]);
        assert_eq!(of(&changed, 0x5000).as_deref(), Some("anonymous mapping"));
        assert_eq!(of(&changed, 0x4000).as_deref(), Some("data of b"));
        changed.add(Area {
            from: 0x4000,
            length: 0x800,
            name: "/lib/c".into(),
            is_writable: false,
            is_executable: false,
        });
        assert_eq!(of(&changed, 0x4000).as_deref(), Some("/lib/c"));
        assert_eq!(of(&changed, 0x4800).as_deref(), Some("data of b"));
    }

    #[test]
    fn a_stack_is_what_lies_around_its_pointer() {
        let mut program = areas(&[("//anon", 0x10_0000, 0x90_0000, "rw")]);
        let near = |program: &Areas, address, pointer| program.touched(address, Some(pointer));
        // One address is in a thread's stack, another in the same mapping but far from it.
        assert_eq!(
            near(&program, 0x50_0ff8, 0x50_1000).as_deref(),
            Some("stack")
        );
        let far = near(&program, 0x80_0000, 0x50_1000);
        assert_eq!(far.as_deref(), Some("anonymous mapping"));
        // The first thread's stack has no recorded mapping, or has grown beyond it.
        assert_eq!(
            near(&program, 0x7f_0000_1000, 0x7f_0000_0800).as_deref(),
            Some("stack")
        );
        assert_eq!(near(&program, 0x7e_0000_0000, 0x7f_0000_0800), None);
        assert_eq!(near(&program, 0x91_0000, 0x50_1000), None);
        assert_eq!(program.touched(0x91_0000, None), None);
        program.add(Area {
            from: 0x7f_0000_0000,
            length: 0x1000,
            name: STACK.into(),
            is_writable: true,
            is_executable: false,
        });
        assert_eq!(
            near(&program, 0x7e_ffff_fff8, 0x7f_0000_0000).as_deref(),
            Some("stack")
        );
    }

    #[test]
    fn the_oldest_go_where_there_are_too_many() {
        let mut many = Areas::default();
        for at in 0..2 * MOST as u64 {
            many.add(Area {
                from: at * 0x2000,
                length: 0x1000,
                name: ANONYMOUS.into(),
                is_writable: true,
                is_executable: false,
            });
        }
        assert_eq!(many.0.len(), MOST);
        assert_eq!(of(&many, 0), None);
        assert!(of(&many, (2 * MOST as u64 - 1) * 0x2000).is_some());
    }
}
