//! Expands parameter scans and lists: one command becomes many.

/// A name and the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    /// The name without braces.
    pub name: String,
    /// The values, at least one.
    pub values: Vec<String>,
}

/// The values of all parameters for one benchmark.
pub(super) type Assignment = Vec<(String, String)>;

/// Expands `-P NAME MIN MAX` with `-D STEP` (1 if absent).
///
/// # Errors
/// A message that explains what is wrong with the numbers.
pub(super) fn scan(
    name: &str,
    min: &str,
    max: &str,
    step: Option<&str>,
) -> Result<Parameter, String> {
    let decimals_of = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let of_step = step.map_or(0, decimals_of);
    let decimals = decimals_of(min).max(decimals_of(max)).max(of_step);
    if decimals > 9 {
        return Err(format!("the scan of {name} has more than 9 decimals"));
    }
    let (first, last) = (scaled(min, decimals)?, scaled(max, decimals)?);
    let step = scaled(step.unwrap_or("1"), decimals)?;
    if step <= 0 {
        return Err(format!("the step of {name} must be more than 0"));
    }
    if first > last {
        return Err(format!(
            "the scan of {name} is empty: {min} is more than {max}"
        ));
    }
    if (last - first) / step >= 100_000 {
        return Err(format!("the scan of {name} has more than 100,000 values"));
    }
    let steps = 0..=(last - first) / step;
    let values = steps
        .map(|i| {
            // The first value is written as given, and the others as computed with the step, as in hyperfine,
            // so that files named after the values are the same.
            let shown = match i {
                0 => decimals_of(min),
                _ => decimals_of(min).max(of_step),
            };
            let more = 10i128.pow((decimals - shown) as u32);
            unscaled((first + i * step) / more, shown)
        })
        .collect();
    Ok(Parameter {
        name: name.to_string(),
        values,
    })
}

/// Refuses a value that is really a command: in `-P n 1 'sleep {n}'`, the command would be used as the last
/// value.
///
/// # Errors
/// A message that says what to type, if the value contains its own parameter.
pub(super) fn holds_no_command(option: &str, name: &str, value: &str) -> Result<(), String> {
    if !value.contains(&format!("{{{name}}}")) {
        return Ok(());
    }
    let quoted = shell_words::quote(value);
    Err(match option {
        "-P" => format!(
            "-P takes a first and a last value before the command; write: -P {name} 1 10 {quoted}, or -L {name} 1 \
             {quoted} for one value"
        ),
        _ => format!("-L takes the values before the command; write: -L {name} 1,2,3 {quoted}"),
    })
}

/// Parses `-L NAME A,B,C`; `\,` is a comma in a value.
///
/// # Errors
/// If there is no value.
pub(super) fn list(name: &str, text: &str) -> Result<Parameter, String> {
    if text.is_empty() {
        return Err(format!(
            "the list of values for {name} is empty; write -L {name} a,b,c"
        ));
    }
    let mut values = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if characters.peek() == Some(&',') => {
                characters.next();
                values.last_mut().expect("never empty").push(',');
            }
            ',' => values.push(String::new()),
            c => values.last_mut().expect("never empty").push(c),
        }
    }
    Ok(Parameter {
        name: name.to_string(),
        values,
    })
}

/// The maximum number of combinations of all values; more would exhaust memory before anything runs, and take
/// days to run.
const MOST: usize = 100_000;

/// Returns every combination. The first parameter varies fastest, as hyperfine's users expect. If there are
/// no parameters, returns one empty assignment.
///
/// # Errors
/// If a name is given twice, or if there are too many combinations.
pub(super) fn combinations(parameters: &[Parameter]) -> Result<Vec<Assignment>, String> {
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index]
            .iter()
            .any(|other| other.name == parameter.name)
        {
            return Err(format!("the parameter {} is given twice", parameter.name));
        }
    }
    let lengths = parameters.iter().map(|parameter| parameter.values.len());
    let count = lengths.clone().fold(1usize, usize::saturating_mul);
    if count > MOST {
        let lengths: Vec<String> = lengths.map(|length| length.to_string()).collect();
        return Err(format!(
            "-P and -L make {} = {count} combinations; at most {MOST} can be benchmarked at once",
            lengths.join(" x ")
        ));
    }
    let mut all: Vec<Assignment> = vec![Vec::new()];
    for parameter in parameters {
        all = parameter
            .values
            .iter()
            .flat_map(|value| {
                all.iter().map(|assignment| {
                    let mut longer = assignment.clone();
                    longer.push((parameter.name.clone(), value.clone()));
                    longer
                })
            })
            .collect();
    }
    Ok(all)
}

/// Returns `text` with every `{NAME}` replaced by its value; values are not searched for names again.
pub(super) fn fill(text: &str, assignment: &Assignment) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let found = assignment.iter().find_map(|(name, value)| {
            rest[1..]
                .strip_prefix(name.as_str())?
                .strip_prefix('}')
                .map(|after| (value, after))
        });
        match found {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

fn scaled(text: &str, decimals: usize) -> Result<i128, String> {
    let wrong = || format!("{text:?} is not a number; a scan takes numbers such as 1 or 0.5");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let joined = format!("{whole}{fraction:0<decimals$}");
    if joined.is_empty() || joined.len() > 30 || !joined.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let value: i128 = joined.parse().map_err(|_| wrong())?;
    Ok(if negative { -value } else { value })
}

fn unscaled(value: i128, decimals: usize) -> String {
    if decimals == 0 {
        return value.to_string();
    }
    let factor = 10i128.pow(decimals as u32);
    let sign = if value < 0 { "-" } else { "" };
    let (whole, fraction) = (value.abs() / factor, value.abs() % factor);
    format!("{sign}{whole}.{fraction:0>decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_counts_exactly_in_decimals() {
        assert_eq!(scan("n", "1", "3", None).unwrap().values, ["1", "2", "3"]);
        assert_eq!(
            scan("x", "0", "0.3", Some("0.1")).unwrap().values,
            ["0", "0.1", "0.2", "0.3"]
        );
        assert_eq!(
            scan("x", "0.1", "0.35", Some("0.1")).unwrap().values,
            ["0.1", "0.2", "0.3"]
        );
        assert_eq!(
            scan("x", "-1.50", "0", Some("0.5")).unwrap().values,
            ["-1.50", "-1.00", "-0.50", "0.00"]
        );
        assert_eq!(scan("x", "-1", "1", Some("2")).unwrap().values, ["-1", "1"]);
        assert!(scan("x", "3", "1", None).unwrap_err().contains("empty"));
        assert!(scan("x", "1", "3", Some("0")).unwrap_err().contains("step"));
        assert!(
            scan("x", "one", "3", None)
                .unwrap_err()
                .contains("not a number")
        );
        assert!(
            scan("x", "0", "99999999", None)
                .unwrap_err()
                .contains("100,000")
        );
    }

    #[test]
    fn a_list_may_have_escaped_commas_and_empty_values() {
        assert_eq!(list("c", "gcc,clang").unwrap().values, ["gcc", "clang"]);
        assert_eq!(list("c", r"a\,b,").unwrap().values, ["a,b", ""]);
        assert!(list("c", "").unwrap_err().contains("empty"));
    }

    #[test]
    fn all_combinations_are_made() {
        let a = list("a", "1,2").unwrap();
        let b = list("b", "x,y").unwrap();
        let all = combinations(&[a.clone(), b]).unwrap();
        let short: Vec<String> = all
            .iter()
            .map(|set| format!("{}{}", set[0].1, set[1].1))
            .collect();
        assert_eq!(short, ["1x", "2x", "1y", "2y"]);
        assert_eq!(combinations(&[]).unwrap().len(), 1);
        // This is refused before a list of 25 million values is created.
        let long = |name: &str| Parameter {
            name: name.into(),
            values: vec!["x".into(); 5000],
        };
        let said = combinations(&[long("n"), long("m")]).unwrap_err();
        assert!(
            said.contains("5000 x 5000 = 25000000 combinations"),
            "{said}"
        );
        assert!(combinations(&[a.clone(), a]).unwrap_err().contains("twice"));
    }

    #[test]
    fn placeholders_are_filled_once() {
        let set = vec![
            ("a".to_string(), "{b}".to_string()),
            ("b".to_string(), "2".to_string()),
        ];
        assert_eq!(fill("x {a} {b} {c} {", &set), "x {b} 2 {c} {");
    }
}
