//! Tests `tessera query`: queries are written in words or JSON, checked without a service, and
//! saved under a name.

use std::path::Path;

use serde_json::{Value, json};
use tessera_model::vql::FileProperty;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{home, outcome, picture_folder, piped, run, serve};

const ID: &str = "95233006-eddc-11ef-b303-76dbc3993eb2";
const ELSEWHERE: [&str; 4] = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem"];

/// Adds these filters one after another, and returns the final query.
fn built(home: &Path, filters: &[&[&str]]) -> Value {
    let (_, mut query, _) = run(home, &["query", "new"]);
    for filter in filters {
        let arguments = [&["query", "add"], *filter].concat();
        let (code, out, err) = piped(home, &arguments, &query);
        assert_eq!((code, err.as_str()), (0, ""), "{filter:?}");
        query = out;
    }
    serde_json::from_str(&query).unwrap()
}

#[test]
fn a_query_is_built_from_words() {
    let home = tempfile::tempdir().unwrap();
    let query = built(
        home.path(),
        &[
            &["text", "fts", "red AND van"],
            &["text", "semantic", "red van", "--min-sim", "0.35"],
            &["labels", "one_of", "van", "truck"],
            &["tags", "is", ID],
            &["issues", "blur"],
            &["duplicates", "0.95"],
            &["uniqueness", "0.8"],
            &["similarity", "upload", ID, "--max-distance", "0.3"],
        ],
    );
    let expected = json!([
        { "text": { "op": "fts", "value": "red AND van" } },
        { "text": { "op": "semantic", "value": "red van", "threshold": 0.35 } },
        { "labels": { "op": "one_of", "value": ["truck", "van"] } },
        { "tags": { "op": "is", "value": [ID] } },
        { "issues": { "op": "issue", "value": "blur", "mode": "in" } },
        { "duplicates": { "op": "duplicates", "value": 0.95 } },
        { "uniqueness": { "op": "uniqueness", "value": 0.8 } },
        { "similarity": { "op": "upload", "value": ID, "threshold": 0.3 } },
    ]);
    assert_eq!(query, expected);
    let (code, reported, _) = piped(home.path(), &["query", "explain"], &query.to_string());
    assert_eq!((code, reported.lines().count()), (0, 9), "{reported}");
    assert!(reported.contains("at least one of the labels “truck”, “van”, and\n"), "{reported}");
}

#[test]
fn filters_of_the_local_deployment_are_built_from_words() {
    let home = tempfile::tempdir().unwrap();
    let inner = r#"[{"width":{"op":"at_least","value":1000}}]"#;
    let query = built(
        home.path(),
        &[
            &["path", "is", "train"],
            &["name", "one_of", "*.png", "x_?.jpg"],
            &["size", "at_least", "1000000"],
            &["height", "is_not", "480"],
            &["aspect", "at_most", "1.5"],
            &["format", "is", "JPG"],
            &["date", "at_least", "2024-05"],
            &["column", "weather", "is", "rain"],
            &["column", "distance", "at_most", "-2.5"],
            &["column", "code", "is", "\"007\""],
            &["column", "photo_id", "is", "1234567890123456789"],
            &["any_of", inner],
            &["not", inner],
        ],
    );
    let width = json!({ "width": { "op": "at_least", "value": 1000 } });
    let expected = json!([
        { "path": { "op": "is", "value": "train" } },
        { "name": { "op": "one_of", "value": ["*.png", "x_?.jpg"] } },
        { "size": { "op": "at_least", "value": 1_000_000 } },
        { "height": { "op": "is_not", "value": 480 } },
        { "aspect": { "op": "at_most", "value": 1.5 } },
        { "format": { "op": "is", "value": "jpeg" } },
        { "date": { "op": "at_least", "value": "2024-05" } },
        { "column": { "name": "weather", "op": "is", "value": "rain" } },
        { "column": { "name": "distance", "op": "at_most", "value": -2.5 } },
        { "column": { "name": "code", "op": "is", "value": "007" } },
        { "column": { "name": "photo_id", "op": "is", "value": "1234567890123456789" } },
        { "any_of": [width.clone()] },
        { "not": width },
    ]);
    assert_eq!(query, expected);
    let (code, _, err) = piped(home.path(), &["query", "add", "path", "at_least", "x"], "[]");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("[possible values: is, is_not, one_of, not_one_of, contains]"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_deployments_refuse_the_filters_of_the_local_deployment_before_a_search_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let record = format!(r#"{{"id":"{ID}","display_name":"x","status_new":"READY"}}"#);
    // This service answers every path.
    let service = ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(&record)).await;
    let refused = |arguments: &[&str]| {
        let address = ["--base-url", &service.url(), "--kind", "onprem", "--dataset", ID];
        let (code, out, err) = run(home.path(), &[&address[..], arguments].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        err
    };
    let query = r#"[{"path":{"op":"is","value":"train"}}]"#;
    let words = "the filter `path` is an addition of local services; this service does not know it";
    let error = refused(&["search", "vql", query]);
    assert!(error.contains(words), "{error}");
    let error = refused(&["search", "browse", "--sort", "bytes"]);
    assert!(error.contains("sorting a whole result by bytes is an addition"), "{error}");
    let error = refused(&["export", "start", "--media", ID, "--rest"]);
    assert!(error.contains("exporting the rest of a dataset or search is an addition"), "{error}");
    let searched =
        |seen: &ReceivedRequest| ["explore", "export"].iter().any(|it| seen.target.contains(it));
    assert!(!service.requests().iter().any(searched));
}

#[test]
fn invalid_filters_are_rejected() {
    let home = tempfile::tempdir().unwrap();
    for (filter, words) in [
        (&["text", "semantic", "van", "--min-sim", "7"][..], "0.0 to 1.0"),
        (&["text", "fts", " "], "must not be empty"),
        (&["text", "fts", "van", "--min-sim", "0.5"], "--min-sim"),
        (&["labels", "one_of"], "required"),
        (&["labels", "among", "van"], "one_of"),
        (&["tags", "is", "night"], "night"),
        (&["duplicates", "much"], "much"),
    ] {
        let arguments = [&["query", "add"], filter].concat();
        let (code, out, err) = piped(home.path(), &arguments, "[]");
        assert_eq!((code, out.as_str()), (2, ""), "{filter:?}: {err}");
        assert!(err.contains(words), "{filter:?}: {err}");
    }
    // A failed command leaves nothing in a pipe. That must not count as a query that matches
    // everything.
    let (code, out, err) = piped(home.path(), &["query", "add", "issues", "blur"], "");
    assert_eq!((code, out.as_str()), (8, ""));
    assert!(err.contains("the query is empty") && err.contains("tessera query new"), "{err}");
}

#[test]
fn check_reports_every_error_with_line_and_column() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("q.json");
    let query = "[\n {\"labels\": {\"op\": \"is\", \"value\": 7}},\n {\"issues\": {\"op\": \
                 \"issue\", \"value\": \"blur\"}},\n {\"label\": {}}\n]\n";
    std::fs::write(&file, query).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, err) = run(home.path(), &["query", "check", file]);
    assert_eq!(code, 8);
    let [first, second] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
    assert!(first.starts_with(&format!("{file}:2:35: filter 0, labels.value: must")), "{first}");
    assert!(
        second.starts_with(&format!("{file}:4:2: filter 2: \"label\" is not a filter")),
        "{second}"
    );
    assert!(err.contains("2 errors; the service would reject it"), "{err}");

    let (code, out, _) = run(home.path(), &["query", "check", file, "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &answer["schema"], &answer["valid"]),
        (8, &json!("tessera.query_check/1"), &json!(false))
    );
    assert_eq!(answer["diagnostics"][0]["field"], "labels.value");
    assert_eq!(
        (&answer["diagnostics"][1]["line"], &answer["diagnostics"][1]["filter"]),
        (&json!(4), &json!(2))
    );

    let (code, _, err) = run(home.path(), &["query", "fmt", file]);
    assert_eq!(code, 8);
    assert!(err.contains("q.json:2:35:"), "{err}");
    let (code, _, err) = run(home.path(), &["query", "check", "/nowhere/q.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("/nowhere/q.json"), "{err}");
}

#[test]
fn a_query_that_the_service_of_a_local_folder_refuses_is_an_error_there() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let width = r#"{"width":{"op":"at_least","value":9}}"#;
    for (text, reason) in
        [("(red", "this parenthesis is never closed"), ("NOT red", "NOT is written as a minus")]
    {
        let query = format!(r#"[{width}, {{"text":{{"op":"fts","value":"{text}"}}}}]"#);
        let check = ["query", "check", "--vql", &query];
        let (code, out, err) = run(home.path(), &[&check[..], &["--folder", folder]].concat());
        assert_eq!(code, 8, "{err}");
        let place = "--vql:1:69: filter 1, text.value: at character 1: ";
        assert!(out.starts_with(&format!("{place}{reason}")), "{out}");
        let save = ["query", "save", "red", "--vql", &query, "--folder", folder];
        let (code, _, err) = run(home.path(), &save);
        assert_eq!(code, 8, "{err}");
        assert!(err.contains(&format!("{place}{reason}")), "{err}");
        // Other services may know another grammar.
        assert_eq!(run(home.path(), &[&check[..], &ELSEWHERE[..]].concat()).0, 0);
    }
}

#[test]
fn undocumented_issues_and_long_queries_are_notes() {
    let home = tempfile::tempdir().unwrap();
    let long = "x".repeat(900);
    let texts: Vec<Value> =
        (0..5).map(|n| json!({ "text": { "op": "fts", "value": format!("{n}{long}") } })).collect();
    let mut query = texts;
    query.push(json!({ "issues": { "op": "issue", "value": "grain" } }));
    let query = Value::from(query).to_string();
    let (code, out, err) = run(home.path(), &["query", "check", "--vql", &query]);
    assert_eq!(code, 0, "{err}");
    let [first, second] = out.lines().collect::<Vec<_>>()[..] else { panic!("{out}") };
    assert!(
        first.contains(": note: filter 5, issues.value: “grain” is not a published issue name"),
        "{first}"
    );
    assert!(second.contains("characters in the URL"), "{second}");
    let formats = r#"[{"format": {"op": "one_of", "value": ["JPG", "mp4", "xyz"]}}]"#;
    let (code, out, _) = run(home.path(), &["query", "check", "--vql", formats]);
    let note = "note: filter 0, format.value: “xyz” is not a format of pictures or videos";
    assert!(code == 0 && out.starts_with("--vql:1:") && out.contains(note), "{code} {out}");
    assert!(err.contains("6 filters, no errors"), "{err}");
    let labels: Vec<String> = (0..100).map(|n| format!("{n}{}", "\u{5199}".repeat(40))).collect();
    let filter = json!({ "labels": { "op": "one_of", "value": labels } });
    let query = json!([filter, filter]).to_string();
    let (code, out, _) = run(home.path(), &["query", "check", "--vql", &query]);
    assert!(code == 8 && out.contains("a URL has at most 65534"), "{code} {out}");
}

#[test]
fn views_are_saved_listed_and_removed_without_requests() {
    let home = tempfile::tempdir().unwrap();
    let at = |arguments: &[&str]| run(home.path(), &[arguments, &ELSEWHERE[..]].concat());
    let vql = r#"[{"uniqueness":{"op":"uniqueness","value":0.8}}]"#;
    for granularity in ["1", "3"] {
        let save =
            ["query", "save", "odd ones", "--vql", vql, "--granularity", granularity, "-d", ID];
        let (code, _, err) = at(&save);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("; run it with `tessera query run "), "{err}");
    }
    let (code, out, _) = at(&["query", "list", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["schema"]), (0, &json!("tessera.views/1")));
    let [view] = &answer["views"].as_array().unwrap()[..] else { panic!("{out}") };
    assert_eq!((&view["name"], &view["granularity"]), (&json!("odd ones"), &json!(3)));
    assert_eq!(
        (&view["vql"], &view["dataset_id"]),
        (&serde_json::from_str(vql).unwrap(), &json!(ID))
    );
    assert_eq!(at(&["query", "remove", "odd ones"]).0, 0);
    let (code, _, err) = at(&["query", "remove", "odd ones"]);
    assert_eq!(code, 5);
    assert!(err.contains("tessera query list"), "{err}");
}

#[test]
fn a_saved_query_runs_in_the_folder_that_is_named() {
    let (home, folder) = home();
    let other = picture_folder(home.path(), "other", &["b.png"]);
    let path = |folder: &Path| folder.to_str().unwrap().to_owned();
    let vql = r#"[{"format":{"op":"is","value":"png"}}]"#;
    let save = ["search", "vql", vql, "--folder", &path(&folder), "--save", "pngs"];
    let (code, _, err) = run(home.path(), &save);
    assert_eq!(code, 0, "{err}");
    let query = ["query", "run", "pngs", "--folder", &path(&other), "--paths"];
    let (code, out, err) = run(home.path(), &query);
    assert_eq!((code, out.trim_end()), (0, &*path(&other.join("b.png"))), "{err}");
    let list = path(&home.path().join("list.jsonl"));
    let export =
        ["export", "start", "--folder", &path(&other), "--search", "pngs", "--list", &list];
    let (code, _, err) = run(home.path(), &export);
    assert_eq!(code, 0, "{err}");
    assert!(std::fs::read_to_string(list).unwrap().contains("b.png"));
}

#[test]
fn a_saved_query_runs_and_is_checked_against_the_dataset() {
    let (home, folder) = home();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let ask = |arguments: &[&str]| outcome(&mut serving.asked(home.path(), arguments));
    let vql = r#"[{"uniqueness":{"op":"uniqueness","value":0}}]"#;
    for (name, filters) in [("all", "[]"), ("odd", vql)] {
        let save =
            ["query", "save", name, "--vql", filters, "--granularity", "0", "-d", "pictures"];
        let (code, _, err) = ask(&save);
        assert_eq!(code, 0, "{err}");
    }
    let (code, out, err) = ask(&["query", "run", "all", "--json"]);
    let answer: Value = serde_json::from_str(&out).expect(&err);
    assert_eq!((code, &answer["query"]["granularity"]), (0, &json!(0)));
    assert_eq!(answer["clusters"].as_array().map(Vec::len), Some(1), "{answer}");
    let (_, out, err) = ask(&["query", "run", "odd", "--granularity", "3", "--json"]);
    let answer: Value = serde_json::from_str(&out).expect(&err);
    assert_eq!((&answer["query"]["granularity"], &answer["kind"]), (&json!(3), &json!("vql")));
    assert_eq!(
        answer["query"]["vql"],
        json!([{ "uniqueness": { "op": "uniqueness", "value": 0.0 } }])
    );

    let labels = r#"[{"labels":{"op":"one_of","value":["van"]}}]"#;
    let (code, out, err) = ask(&["query", "check", "--vql", labels, "-d", "pictures"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("filter 0: needs IMAGE_TAGGING"), "{out}");
    assert_eq!(ask(&["query", "check", "--vql", labels]).1, "", "offline nothing is asked");
}

#[test]
fn each_property_offers_the_operators_that_it_accepts() {
    let root = tessera::cli::definition();
    let add = root.find_subcommand("query").and_then(|query| query.find_subcommand("add"));
    for property in FileProperty::ALL {
        let command = add.and_then(|add| add.find_subcommand(property.as_str())).unwrap();
        let operator = command.get_arguments().find(|it| it.get_id() == "operator").unwrap();
        let offered = operator.get_possible_values();
        let offered: Vec<&str> =
            offered.iter().map(clap::builder::PossibleValue::get_name).collect();
        let accepted: Vec<&str> = property.operators().iter().map(|it| it.as_str()).collect();
        assert_eq!(offered, accepted, "{}", property.as_str());
    }
}
