//! Finds the source file and line of a method of a compiled Java class.
//!
//! The map that a JVM writes contains only names; the class itself contains what its compiler recorded.
//! Nothing in it is trusted. Format: chapter 4 of the Java Virtual Machine Specification.

use crate::demangle::LONGEST_NAME;

/// The remaining bytes of a class.
#[derive(Clone, Copy)]
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(4)?.try_into().ok()?))
    }

    /// Returns the name's index and the content of each attribute.
    fn attributes(&mut self) -> Option<Vec<(u16, Rest<'a>)>> {
        let count = self.u16()?;
        let mut found = Vec::new();
        for _ in 0..count {
            let name = self.u16()?;
            let length = self.u32()? as usize;
            found.push((name, Rest(self.bytes(length)?)));
        }
        Some(found)
    }
}

/// Returns the texts of the constant pool by index.
fn constants<'a>(rest: &mut Rest<'a>) -> Option<Vec<&'a [u8]>> {
    let count = usize::from(rest.u16()?);
    let mut texts: Vec<&[u8]> = vec![&[]];
    while texts.len() < count {
        let tag = rest.u8()?;
        let (text, bytes, slots): (&[u8], usize, usize) = match tag {
            1 => {
                let length = rest.u16()?;
                (rest.bytes(length.into())?, 0, 1)
            }
            7 | 8 | 16 | 19 | 20 => (&[], 2, 1),
            15 => (&[], 3, 1),
            3 | 4 | 9..=12 | 17 | 18 => (&[], 4, 1),
            5 | 6 => (&[], 8, 2),
            _ => return None,
        };
        rest.bytes(bytes)?;
        texts.push(text);
        texts.resize(texts.len() + slots - 1, &[]);
    }
    Some(texts)
}

/// Returns the source file of a class, and the first line of its first method of this name.
pub fn source_of_method(class: &[u8], method: &str) -> Option<(String, u32)> {
    let mut rest = Rest(class);
    (rest.u32()? == 0xcafe_babe).then_some(())?;
    rest.u32()?;
    let texts = constants(&mut rest)?;
    let is = |number: u16, text: &str| texts.get(usize::from(number)) == Some(&text.as_bytes());
    rest.bytes(6)?;
    let interfaces = rest.u16()?;
    rest.bytes(2 * usize::from(interfaces))?;
    for _ in 0..rest.u16()? {
        rest.bytes(6)?;
        rest.attributes()?;
    }
    let mut line = None;
    for _ in 0..rest.u16()? {
        rest.bytes(2)?;
        let name = rest.u16()?;
        rest.bytes(2)?;
        let attributes = rest.attributes()?;
        if line.is_none() && is(name, method) {
            let code = attributes.into_iter().find(|(name, _)| is(*name, "Code"));
            line = code.and_then(|(_, code)| first_line(code, |name| is(name, "LineNumberTable")));
        }
    }
    let attributes = rest.attributes()?;
    let mut source = attributes
        .into_iter()
        .find(|(name, _)| is(*name, "SourceFile"))?;
    let file = String::from_utf8_lossy(texts.get(usize::from(source.1.u16()?))?);
    let file = file.chars().take(LONGEST_NAME).collect();
    Some((file, line?))
}

/// Returns the lowest line of a method's code.
fn first_line(mut code: Rest<'_>, is_lines: impl Fn(u16) -> bool) -> Option<u32> {
    code.bytes(4)?;
    let length = code.u32()?;
    code.bytes(length as usize)?;
    let handlers = code.u16()?;
    code.bytes(8 * usize::from(handlers))?;
    let mut least = None;
    for (_, mut lines) in code
        .attributes()?
        .into_iter()
        .filter(|(name, _)| is_lines(*name))
    {
        for _ in 0..lines.u16()? {
            lines.bytes(2)?;
            let line = u32::from(lines.u16()?);
            least = Some(least.map_or(line, |least: u32| least.min(line)));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class with one field, a method without code, and `hot` in lines 7 and 9 of `P.java`.
    fn class() -> Vec<u8> {
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 8];
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend([1, 0, text.len() as u8]);
            bytes.extend(text.as_bytes());
        };
        // A 64-bit number takes two entries, 1 and 2.
        bytes.extend([5, 0, 0, 0, 0, 0, 0, 0, 0]);
        for name in ["hot", "Code", "LineNumberTable", "SourceFile", "P.java"] {
            text(&mut bytes, name);
        }
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0]);
        // A field, and two methods.
        bytes.extend([0, 1, 0, 0, 0, 3, 0, 3, 0, 0]);
        bytes.extend([0, 2, 0, 0, 0, 4, 0, 4, 0, 0]);
        bytes.extend([0, 0, 0, 3, 0, 4, 0, 1, 0, 4, 0, 0, 0, 29]);
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
        bytes.extend([0, 5, 0, 0, 0, 10, 0, 2, 0, 0, 0, 9, 0, 0, 0, 7]);
        bytes.extend([0, 1, 0, 6, 0, 0, 0, 2, 0, 7]);
        bytes
    }

    #[test]
    fn a_method_has_the_file_and_the_first_line_of_its_code() {
        let found = |method| source_of_method(&class(), method);
        assert_eq!(found("hot"), Some(("P.java".to_owned(), 7)));
        assert_eq!(found("Code"), None, "it has no code");
        assert_eq!(found("other"), None);
    }

    #[test]
    fn no_class_makes_it_panic() {
        fathom_test_memory::survives(&[class()], 1 << 14, |bytes| {
            _ = source_of_method(bytes, "hot");
        });
    }
}
