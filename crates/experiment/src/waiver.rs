//! Removes waivers from the text of a file that the user wrote.

/// Returns the file without the waivers for a metric of a benchmark. Each waiver is a separate table, which
/// extends from its heading to the next one. Everything else in the file, including comments, stays as it is.
pub fn without(text: &str, benchmark: &str, metric: &str) -> String {
    let mut tables: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            tables.push(String::new());
        }
        if let Some(table) = tables.last_mut() {
            table.push_str(line);
        }
    }
    let is_of = |table: &String| {
        let parsed: Option<toml::Table> = toml::from_str(table).ok();
        let waiver = parsed.as_ref().and_then(|table| {
            let all = table.get("gate")?.get("waivers")?.as_array()?;
            all.first()?.as_table()
        });
        waiver.is_some_and(|waiver| {
            let of = |key: &str| waiver.get(key).and_then(toml::Value::as_str);
            of("benchmark") == Some(benchmark) && of("metric").unwrap_or("wall") == metric
        })
    };
    tables.retain(|table| !is_of(table));
    tables.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiver_of_a_metric_is_taken_out_and_nothing_else() {
        let of = |name: &str, metric: &str| {
            format!(
                "[[gate.waivers]]\nbenchmark = \"{name}\"\n{metric}until = 2027-01-31\nreason = \"x\"\n\n"
            )
        };
        let begin = "# ours\n[gate]\nmargin = \"3%\"\n\n".to_owned();
        let (a, b) = (of("a", ""), of("b", "metric = \"wall\"\n"));
        let c = of("a", "metric = \"read_calls\"\n");
        let all = [&*begin, &*a, &*b, &*c, "[subjects.a] # kept\n"].concat();
        let rest = [&*begin, &*b, &*c, "[subjects.a] # kept\n"].concat();
        assert_eq!(without(&all, "a", "wall"), rest);
        assert_eq!(without(&all, "a", "cpu"), all);
    }
}
