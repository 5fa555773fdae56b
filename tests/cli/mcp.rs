//! Tests `tessera mcp` as an assistant uses it: lines of JSON-RPC on standard input and output.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{home, outcome, picture_folder, run, tessera};

struct Assistant {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Assistant {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = tessera(home, &[&["mcp"], arguments].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(
            &json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string(),
        );
        let response = self.receive();
        assert_eq!((&response["jsonrpc"], &response["id"]), (&"2.0".into(), &7.into()));
        response
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Returns the document of a call that succeeds, and the texts after it.
    fn document(&mut self, name: &str, arguments: &Value) -> (Value, Vec<String>) {
        let response = self.call(name, arguments);
        assert_eq!(response["result"]["isError"], false, "{response}");
        let texts = response["result"]["content"].as_array().unwrap().iter();
        let mut texts = texts.map(|each| each["text"].as_str().unwrap().to_owned());
        let document = serde_json::from_str(&texts.next().unwrap()).unwrap();
        (document, texts.collect())
    }

    /// Closes standard input, and returns the responses to what the server had read.
    fn end_and_receive(self) -> Vec<Value> {
        let Self { mut child, input, output } = self;
        drop(input);
        let lines = output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        let responses = lines.collect();
        assert!(child.wait().unwrap().success());
        responses
    }

    /// Closes standard input, which ends the server.
    fn end(self) {
        let Self { mut child, input, output } = self;
        drop((input, output));
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn an_assistant_searches_a_folder_and_changes_nothing() {
    let (home, folder) = home();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    let mut version = |version: &str| {
        let params = json!({"protocolVersion": version, "capabilities": {}});
        assistant.ask("initialize", &params)["result"]["protocolVersion"].clone()
    };
    assert_eq!(version("2099-01-01"), "2025-06-18");
    assert_eq!(version("2025-03-26"), "2024-11-05", "a server of that version reads batches");
    let begun =
        assistant.ask("initialize", &json!({"protocolVersion": "2024-11-05", "capabilities": {}}));
    assert_eq!(begun["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(begun["result"]["serverInfo"]["name"], "tessera");
    assistant.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    let tools = assistant.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name);
    let caption = &named("search_caption").unwrap()["inputSchema"];
    assert_eq!(caption["required"], json!(["text"]));
    assert_eq!(caption["properties"]["flat"]["type"], "boolean");
    assert_eq!(caption["properties"]["labels"]["type"], "array");
    assert_eq!(caption["properties"]["limit"]["type"], "integer");
    assert_eq!(caption["properties"]["max_score"]["type"], "number");
    let check = &named("check").unwrap()["inputSchema"]["properties"];
    assert_eq!(check["max_blur"]["type"], json!(["integer", "string"]));
    assert!(named("export_start").is_none(), "it changes something");
    assert!(tools.iter().all(|tool| tool["description"].is_string()), "every command exists");
    let (listed, _) = assistant.document("dataset_list", &json!({}));
    assert_eq!(listed["schema"], "tessera.datasets/1");
    assert_eq!(listed["datasets"][0]["n_images"], 1);
    let arguments = json!({"flat": true, "limit": 1, "sort": "name", "reverse": true});
    let (found, _) = assistant.document("search_browse", &arguments);
    assert_eq!(found["previews"][0]["file_name"], "a.png", "{found}");
    let arguments = json!({"no_leaks": ["--sarif=leaks.sarif", "b"], "max_unreadable": "0"});
    let checked = assistant.call("check", &arguments).to_string();
    assert!(checked.contains("--sarif=leaks.sarif"), "a value is not an option: {checked}");
    let checked = assistant.call("check", &json!({"no_leaks": ["a"]}));
    assert_eq!(checked["error"]["code"], -32_602, "{checked}");
    let (checked, _) = assistant.document("check", &json!({"require_captions": true}));
    assert_eq!(checked["passed"], false, "a failed check is a result");
    assistant.end();
}

#[test]
fn an_assistant_reaches_only_the_folder_that_it_is_given() {
    let (home, folder) = home();
    let other = picture_folder(home.path(), "other", &["b.png"]);
    let show = ["dataset", "show", "--jq", ".id", "--folder", other.to_str().unwrap()];
    let (code, id, err) = run(home.path(), &show);
    assert_eq!(code, 0, "{err}");
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    let (listed, _) = assistant.document("dataset_list", &json!({}));
    let listed = listed["datasets"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["display_name"]), (1, &"pictures".into()));
    let shown = assistant.call("dataset_show", &json!({"dataset": id.trim()}));
    assert_eq!(shown["result"]["isError"], true, "{shown}");
    assistant.end();
}

#[test]
fn requests_that_were_read_are_answered_after_the_input_has_ended() {
    let (home, folder) = home();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    for id in 0..2 {
        let params = json!({"name": "dataset_list", "arguments": {}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        assistant.send(&call.to_string());
    }
    let responses = assistant.end_and_receive();
    assert_eq!(responses.len(), 2, "{responses:?}");
    assert!(responses.iter().all(|it| it["result"]["isError"] == false), "{responses:?}");
}

#[test]
fn a_call_whose_response_nobody_can_read_is_stopped() {
    let (home, _) = home();
    let (mut assistant, silent) = start_with_silent_service(home.path());
    assistant.send(CALL);
    let _connection = silent.accept().unwrap();
    let ended = Instant::now();
    assistant.end();
    assert!(ended.elapsed() < Duration::from_secs(30), "{:?}", ended.elapsed());
}

/// Starts a server whose calls wait for a service that does not respond.
fn start_with_silent_service(home: &Path) -> (Assistant, TcpListener) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    (Assistant::start(home, &["--base-url", &url, "--kind", "onprem"]), silent)
}

const CALL: &str =
    r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "dataset_list"}}"#;

#[test]
fn a_cancelled_call_is_not_answered() {
    let (home, _) = home();
    for is_started in [false, true] {
        let (mut assistant, silent) = start_with_silent_service(home.path());
        assistant.send(CALL);
        let _connection = is_started.then(|| silent.accept().unwrap());
        assistant.send(
            r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}"#,
        );
        assert_eq!(assistant.end_and_receive(), Vec::<Value>::new());
    }
}

#[test]
fn only_a_few_calls_run_at_once_and_each_has_its_own_id() {
    let (home, _) = home();
    let (mut assistant, silent) = start_with_silent_service(home.path());
    assistant.send(CALL);
    assistant.send(CALL);
    assert_eq!(assistant.receive()["error"]["code"], -32_600, "this id is in use");
    for id in 2..=9 {
        assistant.send(&CALL.replace("\"id\": 1", &format!("\"id\": {id}")));
    }
    let refused = assistant.receive();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&9.into(), &(-32_000).into()));
    drop(silent);
    assert_eq!(assistant.end_and_receive().len(), 8);
}

#[test]
fn a_command_ends_with_the_server() {
    let (home, _) = home();
    for signal in [Signal::TERM, Signal::KILL] {
        let (mut assistant, silent) = start_with_silent_service(home.path());
        assistant.send(CALL);
        let (mut connection, _) = silent.accept().unwrap();
        kill_process(Pid::from_child(&assistant.child), signal).unwrap();
        assistant.child.wait().unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The command closes its connection when it ends.
        let mut request = Vec::new();
        let read = connection.read_to_end(&mut request);
        assert!(
            read.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::ConnectionReset),
            "{signal:?}: {read:?}"
        );
    }
}

#[test]
fn a_failed_call_has_its_document_as_text() {
    let (home, folder) = home();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    let checked = assistant.call("query_check", &json!({"vql": "{"}));
    let result = &checked["result"];
    assert_eq!(result["isError"], true, "{checked}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    assert!(document["diagnostics"][0]["line"].is_number(), "{document}");
    assert!(result["content"][1]["text"].as_str().unwrap().contains("1 error"), "{checked}");
    assistant.end();
}

#[test]
fn an_argument_that_may_be_missing_can_be_given() {
    let (home, folder) = home();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    let (listed, _) = assistant.document("dataset_list", &json!({}));
    let dataset = &listed["datasets"][0]["display_name"];
    for arguments in [json!({"id": "abcdef12"}), json!({"dataset": dataset, "id": "abcdef12"})] {
        let shown = assistant.call("export_status", &arguments);
        let text = shown["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("no export started on this machine begins with `abcdef12`"),
            "{text}"
        );
    }
    assistant.end();
}

#[test]
fn mistakes_of_an_assistant_are_answered() {
    let (home, folder) = home();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    assistant.send("{\"jsonrpc\": ");
    assert_eq!(assistant.receive()["error"]["code"], -32_700);
    assistant.send(r#"{"jsonrpc": "2.0", "id": 1}"#);
    assert_eq!(assistant.receive()["error"]["code"], -32_600);
    assert_eq!(assistant.ask("resources/list", &json!({}))["error"]["code"], -32_601);
    assert_eq!(assistant.ask("ping", &json!({}))["result"], json!({}));
    for (name, arguments, words) in [
        ("nothing", json!({}), "unknown tool nothing"),
        ("export_start", json!({}), "--allow-changes"),
        ("dataset_show", json!({"raw": true}), "has no argument raw"),
        ("dataset_show", json!({"dataset": {}}), "has a wrong type"),
        ("check", json!({"require_captions": "true"}), "require_captions has a wrong type"),
        ("search_browse", json!({"flat": 1}), "flat has a wrong type"),
    ] {
        let response = assistant.call(name, &arguments);
        assert_eq!(response["error"]["code"], -32_602, "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains(words), "{response}");
    }
    // Text that looks like an option is a value.
    let written = home.path().join("written.html");
    let option = format!("--output={}", written.display());
    let response = assistant.call("report", &json!({"source": option}));
    assert_eq!(response["result"]["isError"], true, "{response}");
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("tessera.error/1") && !written.exists(), "{text}");
    assistant.end();
}

#[test]
fn changes_are_offered_only_where_they_are_allowed() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder, "--allow-changes"]);
    let arguments = json!({"shares": "50/50", "names": ["a", "b"]});
    let (split, _) = assistant.document("dataset_split", &arguments);
    assert_eq!(split["sets"][0]["name"], "a", "{split}");
    assistant.document("selection_list", &json!({}));
    assistant.end();
    let mut assistant =
        Assistant::start(home.path(), &["--folder", folder, "--allow-changes", "--read-only"]);
    let refused = assistant.call("dataset_split", &arguments);
    assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().ends_with("without --read-only"));
    assistant.end();
}

#[test]
fn a_result_has_the_entries_of_each_list_that_a_call_asks_for() {
    let (home, _) = home();
    let names: Vec<String> = (10..22).map(|number| format!("{number}.png")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = picture_folder(home.path(), "many", &names);
    let mut assistant = Assistant::start(home.path(), &["--folder", folder.to_str().unwrap()]);
    let tools = assistant.ask("tools/list", &json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let properties = &tool["inputSchema"]["properties"];
        let defaults = ["limit", "offset"].map(|name| properties[name]["default"].as_u64());
        assert_eq!(defaults, [Some(10), Some(0)], "{tool}");
    }
    let browse = json!({"flat": true, "sort": "name"});
    let with = |window: Value| {
        let mut arguments = browse.clone();
        arguments.as_object_mut().unwrap().extend(window.as_object().unwrap().clone());
        arguments
    };
    for (window, first, count, remark) in [
        (
            json!({}),
            "10.png",
            10,
            Some("`previews` has 10 of at least 11 entries; get the next ones with the offset 10"),
        ),
        (json!({"offset": 10}), "20.png", 2, Some("`previews` has 2 of 12 entries")),
        (json!({"limit": 12}), "10.png", 12, None),
        (
            json!({"offset": 11, "limit": u64::MAX}),
            "21.png",
            1,
            Some("`previews` has 1 of 12 entries"),
        ),
    ] {
        let (found, texts) = assistant.document("search_browse", &with(window));
        let rows = found["previews"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["file_name"]), (count, &first.into()), "{texts:?}");
        assert_eq!(texts, Vec::from_iter(remark), "{first}");
    }
    for wrong in [json!({"limit": 0}), json!({"offset": -1}), json!({"limit": "3"})] {
        let refused = assistant.call("search_browse", &wrong);
        assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    }
    assistant.end();
}

#[test]
fn a_task_of_a_folder_has_ended_when_its_call_is_answered() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let mut assistant = Assistant::start(home.path(), &["--folder", folder, "--allow-changes"]);
    let (export, _) =
        assistant.document("export_start", &json!({"format": "coco", "images": true}));
    assert_eq!(export["status"], "COMPLETED", "{export}");
    let id = json!({"id": export["id"]});
    for tool in ["export_status", "export_watch"] {
        let (shown, texts) = assistant.document(tool, &id);
        assert_eq!((&shown["status"], texts.len()), (&"COMPLETED".into(), 0), "{shown} {texts:?}");
    }
    let added = picture_folder(home.path(), "added", &["added.png"]).join("added.png");
    let add = ["media", "add", "--folder", folder, "--file", added.to_str().unwrap(), "--json"];
    let (code, out, err) = run(home.path(), &add);
    assert!(code == 0 && out.contains(r#""status_new": "PARTIAL INDEX""#), "{code} {out}{err}");
    let (reindexed, _) = assistant.document("reindex", &json!({"dataset": folder}));
    assert_eq!(reindexed["status_new"], "READY", "{reindexed}");
    assistant.end();
}

#[test]
fn a_folder_that_is_missing_ends_it_at_the_start() {
    let (home, _) = home();
    let missing = home.path().join("missing");
    let mut command = tessera(home.path(), &["mcp", "--folder", missing.to_str().unwrap()]);
    let (code, _, err) = outcome(command.stdin(Stdio::piped()));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("missing does not exist; check the path"), "{err}");
}
