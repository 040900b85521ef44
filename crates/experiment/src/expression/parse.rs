//! Parses a text into an expression, by recursive descent.

use std::ops::Range;

use super::lex::{Token, lex};
use super::tree::{Expression, Kind, Node, Operator, Relation, SyntaxError};
use crate::file::problem::did_you_mean;

/// The maximum nesting depth of parentheses, `not` and signs.
const DEEPEST: usize = 60;
/// The functions, each with its minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 17] = [
    ("ratio", 2, 2),
    ("order", 2, 99),
    ("same", 2, 2),
    ("p50", 1, 1),
    ("p90", 1, 1),
    ("p95", 1, 1),
    ("p99", 1, 1),
    ("min", 1, 1),
    ("max", 1, 1),
    ("mean", 1, 99),
    ("geomean", 1, 99),
    ("sum", 1, 99),
    ("finding", 2, 2),
    ("clean", 1, 1),
    ("value", 1, 1),
    ("rounded", 1, 1),
    ("sqrt", 1, 1),
];

/// Parses an expression.
///
/// # Errors
/// The problem and its byte range.
pub fn parse(text: &str) -> Result<Expression, SyntaxError> {
    let tokens = lex(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        end: text.len(),
        depth: 0,
    };
    let root = parser.either()?;
    if parser.at < tokens.len() {
        let advice = match parser.peek_word() {
            Some("within") => "`within` must follow ==, same( ) or order( )",
            _ => "join conditions with `and` or `or`",
        };
        return Err(parser.wrong("the expression should end here", advice));
    }
    Ok(Expression {
        text: text.to_string(),
        root,
    })
}

struct Parser<'t> {
    tokens: &'t [(Token, Range<usize>)],
    at: usize,
    end: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn peek_word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn span(&self) -> Range<usize> {
        match self.tokens.get(self.at) {
            Some((_, span)) => span.clone(),
            None => self.end..self.end,
        }
    }

    fn wrong(&self, message: &str, advice: &str) -> SyntaxError {
        SyntaxError {
            span: self.span(),
            message: message.to_string(),
            advice: advice.to_string(),
        }
    }

    fn sign(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, wanted: &str) -> bool {
        let found = self.peek_word() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong("this is nested too deeply", "split it into several claims"));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn either(&mut self) -> Result<Node, SyntaxError> {
        let mut left = self.both()?;
        while self.word("or") {
            let right = self.both()?;
            left = join(left, right, Kind::Or);
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Node, SyntaxError> {
        let mut left = self.negation()?;
        while self.word("and") {
            let right = self.negation()?;
            left = join(left, right, Kind::And);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Node, SyntaxError> {
        let start = self.span().start;
        if self.word("not") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Node {
                span: start..inner.span.end,
                kind: Kind::Not(Box::new(inner)),
            });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Node, SyntaxError> {
        let mut left = self.sum()?;
        if let Kind::Call { within, .. } = &mut left.kind
            && matches!(&self.tokens.get(self.at), Some((Token::Word(word), _)) if word == "within")
        {
            self.at += 1;
            let margin = self.sum()?;
            left.span.end = margin.span.end;
            *within = Some(Box::new(margin));
        }
        let relations = [
            (">=", Relation::AtLeast),
            ("<=", Relation::AtMost),
            ("==", Relation::Equal),
            (">", Relation::More),
            ("<", Relation::Less),
        ];
        let found = relations.into_iter().find(|(sign, _)| self.sign(sign));
        let Some((_, relation)) = found else {
            return Ok(left);
        };
        let right = self.sum()?;
        let mut end = right.span.end;
        let mut within = None;
        if self.peek_word() == Some("within") {
            if relation != Relation::Equal {
                return Err(self.wrong(
                    "`within` belongs behind ==",
                    "with >=, include the margin in the number",
                ));
            }
            self.at += 1;
            let margin = self.sum()?;
            end = margin.span.end;
            within = Some(Box::new(margin));
        }
        Ok(Node {
            span: left.span.start..end,
            kind: Kind::Comparison {
                left: Box::new(left),
                relation,
                right: Box::new(right),
                within,
            },
        })
    }

    fn sum(&mut self) -> Result<Node, SyntaxError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.sign("+") {
                Operator::Add
            } else if self.sign("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = join(left, right, |a, b| Kind::Arithmetic(a, operator, b));
        }
    }

    fn product(&mut self) -> Result<Node, SyntaxError> {
        let mut left = self.sign_of()?;
        loop {
            let operator = if self.sign("*") {
                Operator::Multiply
            } else if self.sign("/") {
                Operator::Divide
            } else {
                return Ok(left);
            };
            let right = self.sign_of()?;
            left = join(left, right, |a, b| Kind::Arithmetic(a, operator, b));
        }
    }

    fn sign_of(&mut self) -> Result<Node, SyntaxError> {
        let start = self.span().start;
        if self.sign("-") {
            let inner = self.deeper(Self::sign_of)?;
            return Ok(Node {
                span: start..inner.span.end,
                kind: Kind::Negative(Box::new(inner)),
            });
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Node, SyntaxError> {
        let span = self.span();
        let Some(token) = self.peek().cloned() else {
            return Err(self.wrong(
                "the expression ends too early",
                "something must follow it, such as a number or wall.SUBJECT",
            ));
        };
        self.at += 1;
        let kind = match token {
            Token::Number(value, half_digit, unit) => Kind::Number {
                value,
                half_digit,
                unit,
            },
            Token::Text(text) => Kind::Text(text),
            Token::Word(word) if matches!(word.as_str(), "and" | "or" | "within") => {
                self.at -= 1;
                return Err(self.wrong(
                    &format!("something is missing before `{word}`"),
                    "such as a number or wall.SUBJECT",
                ));
            }
            Token::Word(word) if self.sign("(") => return self.call(word, span),
            Token::Word(path) => {
                let selectors = self.selectors()?;
                Kind::Reference { path, selectors }
            }
            Token::Sign("(") => {
                let inner = self.deeper(Self::either)?;
                if !self.sign(")") {
                    return Err(self.wrong("a `(` is not closed", "add `)`"));
                }
                return Ok(Node {
                    span: span.start..self.tokens[self.at - 1].1.end,
                    kind: inner.kind,
                });
            }
            _ => {
                self.at -= 1;
                return Err(self.wrong(
                    "a value is missing here",
                    "write a number, METRIC.SUBJECT or a function such as ratio(a, b)",
                ));
            }
        };
        Ok(Node {
            span: span.start..self.tokens[self.at - 1].1.end,
            kind,
        })
    }

    /// Parses `[sink=null, size=10]` after a name.
    fn selectors(&mut self) -> Result<Vec<(String, String)>, SyntaxError> {
        let Some(Token::Brackets(inner)) = self.peek() else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for part in inner.split(',') {
            match part.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    let value = value.trim().trim_matches('"');
                    all.push((name.trim().to_string(), value.to_string()));
                }
                _ => {
                    return Err(self.wrong(
                        "the brackets hold no parameter value",
                        "write wall.subject[sink=null]",
                    ));
                }
            }
        }
        self.at += 1;
        Ok(all)
    }

    fn call(&mut self, name: String, span: Range<usize>) -> Result<Node, SyntaxError> {
        let Some((_, least, most)) = FUNCTIONS.iter().find(|(known, _, _)| *known == name) else {
            let known = FUNCTIONS.iter().map(|(known, _, _)| *known);
            let advice = match did_you_mean(&name, known.clone()) {
                Some(meant) => format!("did you mean {meant}( )?"),
                None => format!("there is {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(SyntaxError {
                span,
                message: format!("there is no function `{name}`"),
                advice,
            });
        };
        let metric = self.metric_prefix();
        let mut arguments = Vec::new();
        while !self.sign(")") {
            if !arguments.is_empty() && !self.sign(",") {
                return Err(self.wrong(
                    "a `,` or `)` is missing here",
                    "arguments are separated by commas",
                ));
            }
            arguments.push(self.deeper(Self::either)?);
        }
        let end = self.tokens[self.at - 1].1.end;
        if arguments.len() < *least || arguments.len() > *most {
            let wanted = if least == most {
                least.to_string()
            } else {
                format!("at least {least}")
            };
            return Err(SyntaxError {
                span: span.start..end,
                message: format!(
                    "{name}( ) takes {wanted} argument(s), not {}",
                    arguments.len()
                ),
                advice: String::new(),
            });
        }
        if let Some(metric) = metric {
            for argument in &mut arguments {
                if let Kind::Reference { path, .. } = &mut argument.kind {
                    *path = format!("{metric}.{path}");
                }
            }
        }
        Ok(Node {
            span: span.start..end,
            kind: Kind::Call {
                name,
                arguments,
                within: None,
            },
        })
    }

    /// Parses `wall:` before the arguments.
    fn metric_prefix(&mut self) -> Option<String> {
        let metric = self.peek_word()?.to_string();
        let colon = matches!(self.tokens.get(self.at + 1), Some((Token::Sign(":"), _)));
        if !colon {
            return None;
        }
        self.at += 2;
        Some(metric)
    }
}

fn join(left: Node, right: Node, kind: impl FnOnce(Box<Node>, Box<Node>) -> Kind) -> Node {
    Node {
        span: left.span.start..right.span.end,
        kind: kind(Box::new(left), Box::new(right)),
    }
}
