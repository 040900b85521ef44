//! What an expression mentions.

use super::tree::{Expression, Kind, Node};

/// Every dotted name.
pub fn paths(expression: &Expression) -> Vec<String> {
    let mut all = Vec::new();
    visit(&expression.root, &mut |node| {
        if let Kind::Reference { path, .. } = &node.kind {
            all.push(path.clone());
        }
    });
    all
}

/// Every parameter value in brackets.
pub fn selectors(expression: &Expression) -> Vec<(String, String)> {
    let mut all = Vec::new();
    visit(&expression.root, &mut |node| {
        if let Kind::Reference { selectors, .. } = &node.kind {
            all.extend(selectors.iter().cloned());
        }
    });
    all
}

fn visit(node: &Node, see: &mut dyn FnMut(&Node)) {
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
