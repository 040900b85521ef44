//! Findings as SARIF.

mod explained;

use fathom_model::CodePlace;
use fathom_report::explain_sarif;
use serde_json::Value;

fn place(function: &str, file: Option<&str>, line: u32) -> CodePlace {
    CodePlace {
        function: Some(function.to_owned()),
        source_file: file.map(str::to_owned),
        line: Some(line),
        ..CodePlace::default()
    }
}

#[test]
fn each_finding_is_a_result_of_its_rule_at_its_line() {
    let mut explanation = explained::findings();
    assert!(explanation.findings.len() > 1);
    let first = &mut explanation.findings[0];
    first.code = place("write\u{1b}[2J", None, 9);
    first.callers = vec![
        place("eval", Some("<string>"), 1),
        place("emit", Some("/srv/app/src/out put.py"), 41),
        place("main", Some("/usr/lib/x.py"), 3),
    ];
    let log: Value = serde_json::from_str(&explain_sarif(&explanation, "/srv/app")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), explanation.findings.len());
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for (result, finding) in results.iter().zip(&explanation.findings) {
        assert_eq!(result["ruleId"], finding.id.as_str());
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        // Code scanning rejects the whole file if one result has no location.
        let file = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(file.as_str().is_some_and(|uri| !uri.is_empty()), "{result}");
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.chars().all(|c| !c.is_control()) && !message.is_empty());
    }
    let of_first = &results[0]["locations"][0];
    let physical = &of_first["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "src/out%20put.py");
    assert_eq!(physical["region"]["startLine"], 41);
    assert_eq!(
        of_first["logicalLocations"][0]["fullyQualifiedName"],
        "emit"
    );
    let steps = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"];
    let uri =
        |step: &Value| step["location"]["physicalLocation"]["artifactLocation"]["uri"].clone();
    let uris: Vec<Value> = steps.as_array().unwrap().iter().map(uri).collect();
    assert_eq!(uris, ["file:///usr/lib/x.py", "src/out%20put.py"]);
    // The fingerprint of the same cause at the same place doesn't depend on the time.
    let fingerprint = |log: &Value| log["runs"][0]["results"][0]["partialFingerprints"].clone();
    explanation.findings[0].share = 0.01;
    explanation.findings[0].statement = "another number".to_owned();
    let again: Value = serde_json::from_str(&explain_sarif(&explanation, "/srv/app")).unwrap();
    assert_eq!(fingerprint(&again), fingerprint(&log));
}

#[test]
fn a_program_without_a_finding_has_no_result() {
    let log: Value = serde_json::from_str(&explain_sarif(&explained::clean(), "")).unwrap();
    assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
}
