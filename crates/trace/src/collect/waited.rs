//! Finds the object behind the descriptor that a thread waited for, at the time of the wait.
//!
//! The same descriptor number may stand for one file after another, and then for a socket: for example, the
//! resolver of the C library gets the number that the program has just closed. The kernel's tables hold sums
//! for each number, and the individual intervals divide these sums by object. The object of a server's poll is
//! what the server waits for there, not the set of descriptors.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::descriptor::DescriptorKind;
use crate::names::Names;
use crate::records::{OffTotals, Who};
use crate::result::{Cause, Limited};

/// The number and the descriptor of a call.
type On = (u32, i32);

/// Waits of one thread, call and descriptor, by object.
type ByObject = HashMap<u32, Waits>;

#[derive(Debug, Default)]
struct Waits {
    count: u64,
    total: u64,
    longest: u64,
    by_length: Vec<u32>,
    limited: Limited,
}

/// The objects of waits, if they have a descriptor.
#[derive(Debug, Default)]
pub(super) struct Waited {
    kinds: Vec<Arc<DescriptorKind>>,
    places: HashMap<Arc<DescriptorKind>, u32>,
    /// Objects of polls that are not behind the poll's descriptor.
    implied: HashMap<Arc<DescriptorKind>, u32>,
    waits: HashMap<(Who, On, Cause), ByObject>,
}

/// A row of the off-CPU table, for one object or for all.
pub(super) struct Part {
    pub totals: OffTotals,
    pub object: Option<u32>,
    pub limited: Limited,
}

impl Waited {
    /// Notes that a thread was asleep for `ns` in this call; returns the index of its descriptor's current
    /// object.
    pub(super) fn slept(
        &mut self,
        names: &Names,
        (who, on, cause): (Who, On, Cause),
        ns: u64,
    ) -> Option<u32> {
        let object = self.object(names, who, on)?;
        self.of((who, on, cause), object).add(ns);
        Some(object)
    }

    /// Notes that a thread was asleep for `ns` in this poll because of an object that need not be behind its
    /// descriptor; returns the object's index.
    pub(super) fn slept_for(
        &mut self,
        object: Arc<DescriptorKind>,
        wait: (Who, On, Cause),
        ns: u64,
    ) -> u32 {
        let next = self.kinds.len() as u32;
        let place = *self.implied.entry(object.clone()).or_insert(next);
        if place == next {
            self.kinds.push(object);
        }
        self.of(wait, place).add(ns);
        place
    }

    /// Notes that a waiting call has just returned because its timeout expired, after `ns`.
    pub(super) fn time_was_up(&mut self, names: &Names, (who, on): (Who, On), ns: u64) {
        if let Some(object) = self.object(names, who, on) {
            let limited = &mut self.of((who, on, Cause::Asleep), object).limited;
            limited.calls += 1;
            limited.ns += ns;
        }
    }

    /// Returns the rows divided by object if their descriptor number had several or they are polls of servers,
    /// the objects, and the indices of those that need not be behind a descriptor.
    pub(super) fn divide(
        mut self,
        names: &Names,
        off: Vec<OffTotals>,
    ) -> (Vec<Part>, Vec<DescriptorKind>, HashSet<u32>) {
        let implied: HashSet<u32> = self.implied.values().copied().collect();
        let mut parts = Vec::new();
        for totals in off {
            let key = totals.call.map(|on| (totals.who, on, totals.cause));
            let by_object = key.and_then(|key| self.waits.remove(&key));
            let mut by_object = by_object.unwrap_or_default();
            let several = |on: On| names.was_several(totals.who.pid, on.1);
            let mut limited = Limited::default();
            if !totals.call.is_some_and(several) {
                by_object.retain(|object, waits| {
                    limited.calls += waits.limited.calls;
                    limited.ns += waits.limited.ns;
                    implied.contains(object)
                });
            }
            divide_row(totals, by_object, limited, &mut parts);
        }
        let kinds = self.kinds.into_iter();
        (parts, kinds.map(Arc::unwrap_or_clone).collect(), implied)
    }

    fn object(&mut self, names: &Names, who: Who, (_, fd): On) -> Option<u32> {
        let kind = names.kind(who.pid, fd)?;
        let next = self.kinds.len() as u32;
        let place = *self.places.entry(kind.clone()).or_insert(next);
        if place == next {
            self.kinds.push(kind);
        }
        Some(place)
    }

    fn of(&mut self, key: (Who, On, Cause), object: u32) -> &mut Waits {
        self.waits
            .entry(key)
            .or_default()
            .entry(object)
            .or_default()
    }
}

impl Waits {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.total += ns;
        self.longest = self.longest.max(ns);
        let class = length_class(ns);
        if self.by_length.len() <= class {
            self.by_length.resize(class + 1, 0);
        }
        self.by_length[class] += 1;
    }
}

/// Divides one row by object. Time that intervals don't cover, because they are too short for a record, has
/// no object, but the calls in `limited`.
fn divide_row(mut totals: OffTotals, by_object: ByObject, limited: Limited, parts: &mut Vec<Part>) {
    let is_whole = by_object.is_empty();
    let mut by_object: Vec<(u32, Waits)> = by_object.into_iter().collect();
    by_object.sort_by_key(|(object, _)| *object);
    for (object, waits) in by_object {
        totals.count = totals.count.saturating_sub(waits.count);
        totals.total = totals.total.saturating_sub(waits.total);
        for (left, taken) in totals.by_length.iter_mut().zip(&waits.by_length) {
            *left = left.saturating_sub(*taken);
        }
        parts.push(Part {
            totals: OffTotals {
                who: totals.who,
                call: totals.call,
                cause: totals.cause,
                count: waits.count,
                total: waits.total,
                longest: waits.longest,
                by_length: waits.by_length,
            },
            object: Some(object),
            limited: waits.limited,
        });
    }
    if is_whole || totals.total > 0 {
        parts.push(Part {
            totals,
            object: None,
            limited,
        });
    }
}

/// See [`OffCpuRow::by_length`](crate::OffCpuRow::by_length).
fn length_class(ns: u64) -> usize {
    const LAST: u32 = 23;
    let units = ns / 1024;
    (u64::BITS - units.leading_zeros()).min(LAST) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls;

    #[test]
    fn a_number_that_was_two_things_has_the_waits_of_each() {
        let who = Who { tid: 7, pid: 7 };
        let poll = calls::number("ppoll").expect("a call of this architecture");
        let mut names = Names::default();
        let mut waited = Waited::default();
        let mut waits = |name: &str, each: u64, limited: bool| {
            names.opened(7, 3, DescriptorKind::from(name), false, true, 0);
            for _ in 0..2 {
                waited.slept(&names, (who, (poll, 3), Cause::Asleep), each);
                if limited {
                    waited.time_was_up(&names, (who, (poll, 3)), each + 10);
                }
            }
            names.closed(7, 3);
        };
        waits("pipe", 3_000, false);
        waits("socket to 192.0.2.1:53", 2_000_000, true);
        let off = vec![OffTotals {
            who,
            call: Some((poll, 3)),
            cause: Cause::Asleep,
            count: 9,
            total: 4_006_500,
            longest: 2_000_000,
            by_length: Vec::new(),
        }];
        let (parts, kinds, _) = waited.divide(&names, off);
        let reported: Vec<_> = parts
            .iter()
            .map(|it| {
                let name = it.object.map(|at| kinds[at as usize].to_string());
                (name, it.totals.count, it.totals.total, it.limited.calls)
            })
            .collect();
        let name = |text: &str| Some(text.to_owned());
        let wanted = [
            (name("pipe"), 2, 6_000, 0),
            (name("socket to 192.0.2.1:53"), 2, 4_000_000, 2),
            (None, 5, 500, 0),
        ];
        assert_eq!(reported, wanted);
    }

    #[test]
    fn the_polls_of_a_server_are_divided_by_what_it_waits_for() {
        let who = Who { tid: 7, pid: 7 };
        let poll = calls::number("epoll_wait").or(calls::number("epoll_pwait"));
        let on = (poll.expect("a call of this architecture"), 3);
        let mut names = Names::default();
        names.opened(7, 3, DescriptorKind::from("eventpoll"), false, true, 0);
        let mut waited = Waited::default();
        waited.slept(&names, (who, on, Cause::Asleep), 1_000);
        waited.time_was_up(&names, (who, on), 1_100);
        let timer = Arc::new(DescriptorKind::Timer);
        let object = waited.slept_for(timer, (who, on, Cause::Asleep), 9_000);
        let off = vec![OffTotals {
            who,
            call: Some(on),
            cause: Cause::Asleep,
            count: 2,
            total: 10_000,
            longest: 9_000,
            by_length: Vec::new(),
        }];
        let (parts, kinds, implied) = waited.divide(&names, off);
        let part = |part: &Part| (part.object, part.totals.total, part.limited.calls);
        let parts: Vec<_> = parts.iter().map(part).collect();
        assert_eq!(parts, [(Some(object), 9_000, 0), (None, 1_000, 1)]);
        assert_eq!(kinds[object as usize], DescriptorKind::Timer);
        assert!(implied.contains(&object));
    }

    #[test]
    fn a_number_that_was_one_thing_is_not_divided() {
        let who = Who { tid: 7, pid: 7 };
        let mut names = Names::default();
        names.opened(7, 3, DescriptorKind::from("pipe"), false, true, 0);
        let mut waited = Waited::default();
        waited.slept(&names, (who, (0, 3), Cause::Asleep), 5_000);
        waited.time_was_up(&names, (who, (0, 3)), 5_100);
        let off = vec![OffTotals {
            who,
            call: Some((0, 3)),
            cause: Cause::Asleep,
            count: 1,
            total: 5_000,
            longest: 5_000,
            by_length: Vec::new(),
        }];
        let (parts, ..) = waited.divide(&names, off);
        assert!(parts.len() == 1 && parts[0].object.is_none());
        assert_eq!(parts[0].limited.calls, 1);
    }
}
