//! What all mechanisms use.

pub(super) use crate::analysis::{Analysis, Tally};
pub(super) use crate::claim::{Claim, Least, Piece};
pub(super) use crate::critical_path::{covered_ns, span_ns};
pub(super) use crate::descriptors::WaitKind;
pub(super) use crate::file_name::file_name;
pub(super) use crate::grouping::{grouped, largest, most, totals};
pub(super) use crate::mechanisms::per_item::call_cost::{CallCost, part_of};
pub(super) use crate::numbers::{bytes, count, if_so, time};
pub(super) use crate::runtimes::{
    Habit, Runtime, Topic, Use, is_library_file, is_made_up, is_of_system, is_shell,
};
pub(super) use crate::thread_times::{ThreadTimes, Threads};
pub(super) use crate::{calls, classify, thresholds as t};
pub(super) use fathom_model::{FindingId, ThreadRole, TimeCategory};
pub(super) use fathom_trace::{
    Cause, DescriptorKind, Exec, FileRow, FunctionRow, InFlightRow, Interval, LookupRow, OffCpuRow,
    Process, SyscallRow,
};
pub(super) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
