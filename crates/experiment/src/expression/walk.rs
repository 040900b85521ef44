//! Finds the names that an expression mentions.

use super::tree::{Expression, Kind, Node};

/// Returns every dotted name, with the parameter values in the brackets after it.
pub fn references(expression: &Expression) -> Vec<(&str, &[(String, String)])> {
    let mut all = Vec::new();
    visit(&expression.root, &mut |node| {
        if let Kind::Reference {
            path, selectors, ..
        } = &node.kind
        {
            all.push((path.as_str(), selectors.as_slice()));
        }
    });
    all
}

fn visit<'e>(node: &'e Node, see: &mut dyn FnMut(&'e Node)) {
    see(node);
    match &node.kind {
        Kind::Number { .. } | Kind::Reference { .. } | Kind::Text(_) => {}
        Kind::Call {
            arguments, within, ..
        } => {
            arguments.iter().for_each(|inner| visit(inner, see));
            within.iter().for_each(|inner| visit(inner, see));
        }
        Kind::Arithmetic(left, _, right) | Kind::And(left, right) | Kind::Or(left, right) => {
            visit(left, see);
            visit(right, see);
        }
        Kind::Negative(inner) | Kind::Not(inner) => visit(inner, see),
        Kind::Comparison {
            left,
            right,
            within,
            ..
        } => {
            visit(left, see);
            visit(right, see);
            within.iter().for_each(|inner| visit(inner, see));
        }
    }
}
