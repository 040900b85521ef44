//! A file is gone about for a record a call, or opened for each; or files are tiny.

use super::{discarded_buffers, tiny_files};
use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::mechanisms::per_item;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    tiny_files::find(analysis)
        .or_else(|| per_item::records(analysis))
        .or_else(|| discarded_buffers::find(analysis))
}
