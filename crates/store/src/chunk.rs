//! Encoding of sealed points and of whole records.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::Point;

/// Compresses with a checksum (zlib). Uses level 6: level 3 takes two thirds of the time for a fifth more
/// bytes.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// Returns the maximum size of data with this compressed size. Records shrink to a tenth of their size. Zeros
/// shrink to a thousandth, so a small file of zeros could fill all memory.
pub(crate) fn largest(packed: u64) -> u64 {
    (64 << 20) + 50 * packed
}

/// The maximum size of the points of one chunk, in bytes; each point takes about 60.
const LARGEST_CHUNK: u64 = 1 << 20;

/// Decompresses at most `most` bytes. Returns `None` if the data is damaged.
fn unpack_some(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(packed)
        .take(most + 1)
        .read_to_end(&mut bytes);
    (read.is_ok() && bytes.len() as u64 <= most).then_some(bytes)
}

/// Decompresses the bytes of a record.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    unpack_some(packed, largest(packed.len() as u64))
}

/// A marker before the number of points, for chunks in which each point has its own place. A number of points
/// is never negative.
const WITH_PLACES: i64 = -1;

/// Seals points in their order, by column. Floats are split into eight streams, one for each byte. Signs,
/// exponents and leading digits hardly differ, so they compress to almost nothing.
pub(crate) fn seal(points: &[Point]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(points.len() * 32);
    let with_places = points.iter().any(|point| point.place != point.time);
    if with_places {
        number(&mut bytes, WITH_PLACES);
    }
    number(&mut bytes, points.len() as i64);
    let (mut time, mut record) = (0, 0);
    for point in points {
        if with_places {
            number(&mut bytes, point.place.wrapping_sub(point.time));
        }
        number(&mut bytes, point.time.wrapping_sub(time));
        number(&mut bytes, point.record.wrapping_sub(record));
        number(&mut bytes, i64::from(point.runs));
        (time, record) = (point.time, point.record);
    }
    for column in [|p: &Point| p.value, |p: &Point| p.low, |p: &Point| p.high] {
        for place in 0..8 {
            bytes.extend(points.iter().map(|p| column(p).to_le_bytes()[place]));
        }
    }
    pack(&bytes)
}

/// Decodes the points of one segment. Returns `None` if the bytes are damaged.
pub(crate) fn open(packed: &[u8], environment: i64) -> Option<Vec<Point>> {
    let bytes = unpack_some(packed, LARGEST_CHUNK)?;
    let mut rest = bytes.as_slice();
    let first = take_number(&mut rest)?;
    let with_places = first == WITH_PLACES;
    let count = if with_places {
        take_number(&mut rest)?
    } else {
        first
    };
    let count = usize::try_from(count).ok()?;
    if count > bytes.len() {
        return None;
    }
    let mut points = Vec::with_capacity(count);
    let (mut time, mut record) = (0i64, 0i64);
    for _ in 0..count {
        let apart = if with_places {
            take_number(&mut rest)?
        } else {
            0
        };
        time = time.wrapping_add(take_number(&mut rest)?);
        record = record.wrapping_add(take_number(&mut rest)?);
        let runs = u32::try_from(take_number(&mut rest)?).ok()?;
        points.push(Point {
            place: time.wrapping_add(apart),
            time,
            record,
            environment,
            runs,
            value: 0.0,
            low: 0.0,
            high: 0.0,
        });
    }
    if rest.len() != count * 24 {
        return None;
    }
    let float = |column: usize, index: usize| {
        let byte = |place: usize| rest[(column * 8 + place) * count + index];
        f64::from_le_bytes(std::array::from_fn(byte))
    };
    for (index, point) in points.iter_mut().enumerate() {
        point.value = float(0, index);
        point.low = float(1, index);
        point.high = float(2, index);
    }
    let is_number = |p: &Point| [p.value, p.low, p.high].iter().all(|it| it.is_finite());
    points.iter().all(is_number).then_some(points)
}

/// Writes seven bits per byte, with the sign in the lowest bit.
fn number(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for place in 0..10 {
        let (first, others) = rest.split_first()?;
        *rest = others;
        value |= u64::from(first & 0x7f) << (7 * place);
        if first & 0x80 == 0 {
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Point> {
        let point = |i: i64| Point {
            time: 1_795_219_200_000 + i * 3_600_000 - (i % 7) * 5_000_000,
            place: 1_795_219_200_000 + i * 3_600_000 - (i % 7) * 5_000_000,
            record: 40 + i * i,
            environment: 3,
            runs: 10 + (i % 3) as u32,
            value: 0.25 + (i as f64).sin() / 100.0,
            low: -1.0 / (i as f64 + 1.0),
            high: f64::MAX / (i as f64 + 1.0),
        };
        (0..500).map(point).collect()
    }

    #[test]
    fn sealed_points_come_out_as_they_went_in() {
        assert_eq!(open(&seal(&points()), 3).unwrap(), points());
        assert_eq!(open(&seal(&[]), 3).unwrap(), []);
        let mut extreme = points()[..1].to_vec();
        (extreme[0].time, extreme[0].record, extreme[0].runs) = (i64::MIN, i64::MAX, u32::MAX);
        assert_eq!(open(&seal(&extreme), 3).unwrap(), extreme);
        let mut placed = points();
        for (number, point) in placed.iter_mut().enumerate() {
            point.place -= number as i64 * 1_000;
        }
        placed[7].place = i64::MAX;
        assert_eq!(open(&seal(&placed), 3).unwrap(), placed);
    }

    #[test]
    fn what_grows_without_measure_is_refused() {
        let zeros = pack(&vec![0; LARGEST_CHUNK as usize + 1]);
        assert!(zeros.len() < 2000 && open(&zeros, 3).is_none());
        assert_eq!(
            unpack_some(&zeros, LARGEST_CHUNK + 1).map(|all| all.len()),
            Some((1 << 20) + 1)
        );
        let record = pack(&vec![0; 70 << 20]);
        assert!(unpack(&record).is_none());
    }

    #[test]
    fn what_is_no_number_is_no_point() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut odd = points();
            odd[3].high = value;
            assert!(open(&seal(&odd), 3).is_none());
        }
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let sealed = seal(&points());
        for place in (0..sealed.len()).step_by(7) {
            let mut damaged = sealed.clone();
            damaged[place] ^= 0x10;
            let opened = open(&damaged, 3);
            assert!(
                opened.is_none() || opened.unwrap() == points(),
                "byte {place}"
            );
        }
        assert!(open(&sealed[..sealed.len() - 5], 3).is_none());
    }
}
