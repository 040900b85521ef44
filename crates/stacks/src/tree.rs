//! The call tree of many stacks, with each frame and each path stored once.

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

/// A function at an address, as recorded by the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub function: Option<String>,
    pub source_file: Option<String>,
    pub line: Option<u32>,
}

/// A place in a program's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The file with the code, as named by the kernel: a path, `[vdso]`, or `//anon` and the like for code
    /// generated at run time. Empty if nothing was mapped at the address.
    pub binary: String,
    /// The function's name as written in the source; `None` if no symbol is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// If there is no function, the offset in the binary, or the address of code that isn't from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// If there is no function, the exported function that begins before the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The source file, as recorded by the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_file: Option<String>,
    /// The line in the source file, from 1, that was executed or made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the compiler inlined the function into its caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Whether its code was compiled without optimization, as noted by the compiler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// Whether the frame is the interpreter's own function, called by a function of the interpreted program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interpreter: bool,
}

/// A path from the outermost frame to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The caller's node, which has a smaller index; `None` for the outermost frame.
    pub parent: Option<u32>,
    /// Index of the frame in [`StackTree::frames`].
    pub frame: u32,
}

/// How far outwards a stack was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To the thread's first function.
    Root,
    /// To the end of the copy; the stack was deeper.
    CutOff,
    /// To a frame whose caller can't be found.
    Broken,
}

/// The named stacks of a process tree.
pub type StackTree = Tree<Frame>;

/// Frames and paths, each stored once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "F: Deserialize<'de>"))]
pub struct Tree<F> {
    /// Frames, in order of first appearance.
    pub frames: Vec<F>,
    /// Paths; a node's parent comes before it.
    pub nodes: Vec<Node>,
    #[serde(skip)]
    frame_numbers: HashMap<F, u32>,
    #[serde(skip)]
    node_numbers: HashMap<Node, u32>,
}

impl<F> Default for Tree<F> {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            nodes: Vec::new(),
            frame_numbers: HashMap::new(),
            node_numbers: HashMap::new(),
        }
    }
}

impl<F: PartialEq> PartialEq for Tree<F> {
    /// Ignores the lookup tables, which a deserialized tree doesn't have.
    fn eq(&self, other: &Self) -> bool {
        self.frames == other.frames && self.nodes == other.nodes
    }
}

impl<F: Eq> Eq for Tree<F> {}

impl<F: Clone + Eq + Hash> Tree<F> {
    /// Adds a stack whose frames are given outermost first, and returns its node; `None` if there are no
    /// frames.
    pub fn add(&mut self, outermost_first: impl IntoIterator<Item = F>) -> Option<u32> {
        let mut parent = None;
        for frame in outermost_first {
            parent = Some(self.add_below(parent, frame));
        }
        parent
    }

    /// Adds a frame that was called from the node `parent`, and returns its node.
    pub fn add_below(&mut self, parent: Option<u32>, frame: F) -> u32 {
        let next = self.frames.len() as u32;
        let frame = *self.frame_numbers.entry(frame.clone()).or_insert_with(|| {
            self.frames.push(frame);
            next
        });
        let node = Node { parent, frame };
        let next = self.nodes.len() as u32;
        *self.node_numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// Returns the frames of a node, innermost first.
    pub fn path(&self, node: u32) -> impl Iterator<Item = &F> {
        let numbers = self.frame_numbers_of(node);
        numbers.filter_map(|frame| self.frames.get(frame as usize))
    }

    /// Like [`Tree::path`], but returns indices in [`Tree::frames`].
    pub fn frame_numbers_of(&self, node: u32) -> impl Iterator<Item = u32> {
        let parent = |node: &Node| self.nodes.get(node.parent? as usize);
        let nodes = std::iter::successors(self.nodes.get(node as usize), move |node| parent(node));
        nodes.map(|node| node.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Frame {
        Frame {
            function: Some(function.to_owned()),
            ..Frame::default()
        }
    }

    #[test]
    fn equal_frames_and_paths_are_kept_once() {
        let mut tree = StackTree::default();
        let parse = tree.add([frame("main"), frame("parse")]);
        let print = tree.add([frame("main"), frame("print")]);
        assert_eq!(tree.add([frame("main"), frame("parse")]), parse);
        assert_ne!(parse, print);
        assert_eq!((tree.frames.len(), tree.nodes.len()), (3, 3));
        let names: Vec<_> = tree
            .path(print.expect("frames were given"))
            .map(|frame| frame.function.as_deref())
            .collect();
        assert_eq!(names, [Some("print"), Some("main")]);
        assert_eq!(tree.add([]), None);
    }
}
