//! `tessera mcp`: offers commands as tools to an assistant, by the Model Context Protocol over standard input and
//! output (<https://modelcontextprotocol.io/specification/2025-06-18>). A message is a line of JSON-RPC 2.0. Each call
//! runs this program again with `--json`, so a tool does exactly what its command does.

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{self, BufRead, BufReader, IsTerminal as _, Read as _},
    process::{self, Output, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use clap::Command as CommandDefinition;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Map;

use crate::cli::prelude::*;
use crate::{
    cli::{
        GlobalOptions,
        info::spec_document,
        keyboard::Keyboard,
        output::{is_unread_within, write_stdout},
        values::missing_folder,
    },
    subprocess::PARENT_VARIABLE,
};

/// A command that is offered as a tool, with the arguments that it takes. Arguments that would write files on this
/// machine are not offered.
struct Tool {
    command: &'static str,
    arguments: Arguments,
    changes: bool,
}

const FOUND: &[&str] =
    &["entity", "granularity", "labels", "tags", "vql", "sort", "reverse", "flat"];
const ITEMS: &[&str] = &["media", "cluster", "entity"];
const LIMITS: &[&str] = &[
    "max_duplicates",
    "max_blur",
    "max_dark",
    "max_bright",
    "max_outliers",
    "max_mislabels",
    "max_unreadable",
    "require_captions",
    "require_labels",
    "min_media",
    "no_leaks",
];
const CONTENT: &[&str] = &["selection", "caption", "max_score", "labels", "tags", "vql"];

const TOOLS: &[Tool] = &[
    reading("dataset list", &[&["status"]]),
    reading("dataset show", &[&["dataset"]]),
    reading("dataset leaks", &[&["a", "b", "source"]]),
    reading("enrichment show", &[&["dataset"]]),
    reading("report", &[&["source"]]),
    reading("check", &[&["source"], LIMITS]),
    reading("search browse", &[FOUND]),
    reading("search caption", &[&["text", "max_score"], FOUND]),
    reading("search image", &[&["picture", "region", "max_score"], FOUND]),
    reading("search media", &[&["media", "max_score"], FOUND]),
    reading("search vql", &[FOUND]),
    reading("query check", &[&["vql"]]),
    reading("selection list", &[]),
    reading("selection show", &[&["of", "name"]]),
    reading("export list", &[&["dataset"]]),
    reading("export status", &[&["dataset", "id"]]),
    reading("export watch", &[&["dataset", "id"]]),
    reading("jobs list", &[&["all", "running"]]),
    changing("selection add", &[&["of", "name"], ITEMS]),
    changing("dataset split", &[&["shares", "source", "names", "by", "seed", "force"]]),
    changing("dataset rescan", &[&["dataset", "wait"]]),
    changing("export start", &[&["dataset", "format", "images", "name", "wait"], ITEMS, CONTENT]),
    changing("reindex", &[&["dataset", "wait"]]),
];

type Arguments = &'static [&'static [&'static str]];

const fn reading(command: &'static str, arguments: Arguments) -> Tool {
    Tool { command, arguments, changes: false }
}

const fn changing(command: &'static str, arguments: Arguments) -> Tool {
    Tool { command, arguments, changes: true }
}

impl Tool {
    fn name(&self) -> String {
        self.command.replace(' ', "_")
    }
}

/// The versions of the protocol that this server can speak, the newest first. Version 2025-03-26 is omitted, because it
/// has batches, which this server does not read.
const VERSIONS: [&str; 2] = ["2025-06-18", "2024-11-05"];
const MAX_MESSAGE_BYTES: u64 = 8 << 20;
/// The interval at which the server checks whether the calls have ended.
const PAUSE: Duration = Duration::from_millis(100);
/// The time that calls have after the end of standard input.
const TIME_TO_FINISH: Duration = Duration::from_mins(1);

/// How many calls may run at the same time. Each is a process, which may have the index of a dataset in memory.
const MAX_CALLS: usize = 8;
const TOO_MANY_CALLS: i32 = -32_000;
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;

pub async fn run(context: &Context, allow_changes: bool, root: CommandDefinition) -> CliResult {
    if io::stdin().is_terminal() {
        let message = "an assistant starts this command and writes to it; add it to the settings of the assistant";
        return Err(CliError::usage(message));
    }
    // The user who sets up the assistant has to see this, and not only the assistant.
    if let Some(error) = context.global.folder.as_deref().and_then(missing_folder) {
        return Err(error);
    }
    let spec =
        spec_document(root).map_err(|error| CliError::io("describe the commands", &error))?;
    let server = Server {
        spec: spec.root()["commands"].clone(),
        allow_changes: allow_changes && !context.global.read_only,
        deployment: deployment_arguments(&context.global),
        running: Mutex::default(),
    };
    let serving = tokio::task::spawn_blocking(move || Arc::new(server).serve());
    serving.await.map_err(|error| CliError::failed(error.to_string()))?
}

/// Returns the options that select the deployment, for the commands that are run.
fn deployment_arguments(global: &GlobalOptions) -> Vec<OsString> {
    let dataset = global.dataset.as_ref().map(|dataset| ("--dataset", dataset.into()));
    let given = global.deployment_options().into_iter().chain(dataset);
    let given = given.map(|(flag, value)| [flag.as_ref(), value.as_os_str()].join("=".as_ref()));
    let flag = global.allow_http.then(|| "--allow-http".into());
    given.chain(flag).collect()
}

struct Server {
    /// The descriptions of all commands.
    spec: Value,
    allow_changes: bool,
    deployment: Vec<OsString>,
    /// The calls that are to be answered, by the ids of their requests. A call has a process when it was started.
    running: Mutex<HashMap<String, Option<Pid>>>,
}

impl Server {
    /// Answers requests until standard input ends.
    fn serve(self: Arc<Self>) -> CliResult {
        let mut input = BufReader::new(Keyboard);
        let mut calls: Vec<JoinHandle<()>> = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line);
            let read = read.map_err(|error| CliError::io("read standard input", &error))?;
            if read == 0 {
                // A request that was read is answered, because its writer may still read.
                self.finish(calls);
                return Ok(Exit::Done);
            }
            calls.retain(|call| !call.is_finished());
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice::<Value>(&line) {
                Ok(message) => calls.extend(Self::handle(&self, &message)?),
                Err(error) => respond(&Value::Null, Err((PARSE_ERROR, error.to_string())))?,
            }
        }
    }

    /// Waits until the calls have ended. Calls that take too long, or whose responses nobody can read, are stopped.
    fn finish(&self, calls: Vec<JoinHandle<()>>) {
        let begun = Instant::now();
        while calls.iter().any(|call| !call.is_finished()) {
            if is_unread_within(PAUSE) || begun.elapsed() > TIME_TO_FINISH {
                self.running.lock().drain().for_each(|(_, process)| terminate(process));
                break;
            }
        }
        for call in calls {
            let _ = call.join();
        }
    }

    /// Answers a message, or returns the thread that answers it.
    fn handle(this: &Arc<Self>, message: &Value) -> CliResult<Option<JoinHandle<()>>> {
        let (method, parameters) = (message["method"].as_str(), &message["params"]);
        let id = message.get("id").cloned();
        let Some(method) = method else {
            // A response needs no response. This server sends no requests.
            let is_response = message.get("result").or(message.get("error")).is_some();
            let error = (INVALID_REQUEST, "a message needs a method".to_owned());
            if !is_response {
                respond(&id.unwrap_or_default(), Err(error))?;
            }
            return Ok(None);
        };
        let Some(id) = id else {
            if method == "notifications/cancelled" {
                this.stop(&parameters["requestId"]);
            }
            return Ok(None);
        };
        let outcome = match method {
            "initialize" => Ok(initialization(parameters)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": this.tools() })),
            "tools/call" => match this.command_of(parameters) {
                Ok(_) if this.running.lock().contains_key(&id.to_string()) => {
                    Err((INVALID_REQUEST, "a call with this id is running".to_owned()))
                }
                Ok(_) if this.running.lock().len() >= MAX_CALLS => {
                    let sentence =
                        format!("{MAX_CALLS} calls are running; wait until one has ended");
                    Err((TOO_MANY_CALLS, sentence))
                }
                Ok((arguments, window)) => {
                    let server = Arc::clone(this);
                    this.running.lock().insert(id.to_string(), None);
                    // Calls may take long, so the next message is read meanwhile.
                    return Ok(Some(thread::spawn(move || server.call(&id, &arguments, window))));
                }
                Err(reason) => Err((INVALID_PARAMS, reason)),
            },
            unknown => Err((METHOD_NOT_FOUND, format!("unknown method {unknown}"))),
        };
        respond(&id, outcome).map(|()| None)
    }

    fn offered(&self) -> impl Iterator<Item = &'static Tool> {
        let allow_changes = self.allow_changes;
        TOOLS.iter().filter(move |tool| allow_changes || !tool.changes)
    }

    /// Returns the description of a command, and its arguments that are offered.
    fn described(&self, tool: &Tool) -> (&Value, Vec<&Value>) {
        let command = format!("tessera {}", tool.command);
        let commands = self.spec.as_array().map_or(&[][..], Vec::as_slice);
        let found = commands.iter().find(|each| each["command"] == command.as_str());
        let found = found.unwrap_or(&Value::Null);
        let arguments = found["arguments"].as_array().map_or(&[][..], Vec::as_slice);
        let offered = |each: &&Value| {
            each["name"]
                .as_str()
                .is_some_and(|it| tool.arguments.iter().any(|group| group.contains(&it)))
        };
        (found, arguments.iter().filter(offered).collect())
    }

    fn tools(&self) -> Vec<Value> {
        let tool = |tool: &'static Tool| {
            let (command, arguments) = self.described(tool);
            let properties: Map<String, Value> = arguments
                .iter()
                .filter_map(|each| Some((each["name"].as_str()?.to_owned(), property(each))))
                .chain(Window::properties())
                .collect();
            let required = arguments.iter().filter(|each| each["required"] == true);
            let required: Vec<&Value> = required.map(|each| &each["name"]).collect();
            json!({
                "name": tool.name(),
                "description": command["about"],
                "inputSchema": {
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": false,
                },
                "annotations": { "readOnlyHint": !tool.changes, "destructiveHint": false },
            })
        };
        self.offered().map(tool).collect()
    }

    /// Returns the arguments of the command that a call asks for, and which entries its result has.
    fn command_of(&self, parameters: &Value) -> Result<(Vec<String>, Window), String> {
        let name = parameters["name"].as_str().ok_or("a call needs the name of a tool")?;
        let tool = self.offered().find(|tool| tool.name() == name);
        let tool = tool.ok_or_else(|| {
            if TOOLS.iter().any(|tool| tool.name() == name) {
                let remedy = "start the server with --allow-changes and without --read-only";
                format!("the tool {name} changes something; {remedy}")
            } else {
                format!("unknown tool {name}")
            }
        })?;
        let mut given = match &parameters["arguments"] {
            Value::Null => Map::new(),
            Value::Object(given) => given.clone(),
            _ => return Err("the arguments of a call are an object".to_owned()),
        };
        let window = Window::take_from(&mut given)?;
        let (command, arguments) = self.described(tool);
        let is_known = |key: &&String| arguments.iter().any(|it| it["name"] == key.as_str());
        if let Some(unknown) = given.keys().find(|key| !is_known(key)) {
            return Err(format!("the tool {name} has no argument {unknown}"));
        }
        let words = tool.command.split(' ').map(ToOwned::to_owned);
        let all = command["arguments"].as_array();
        let has_limit = all.is_some_and(|all| all.iter().any(|each| each["name"] == "limit"));
        // One entry more shows whether there is a next one.
        let limit = has_limit.then(|| format!("--limit={}", window.end().saturating_add(1)));
        let words = words.chain(limit).chain(options_and_positionals(&arguments, &given)?);
        Ok((words.collect(), window))
    }

    /// Runs a command and answers with its document, unless the call is cancelled.
    fn call(&self, id: &Value, arguments: &[String], window: Window) {
        let key = id.to_string();
        let result = self.run(&key, arguments).map_or_else(
            |error| json!({ "content": [text_content(&error.to_string())], "isError": true }),
            |output| call_result(&output, window),
        );
        if self.running.lock().remove(&key).is_some() {
            // If the assistant is gone, the end of standard input will end this server.
            let _ = respond(id, Ok(result));
        }
    }

    fn run(&self, key: &str, arguments: &[String]) -> io::Result<Output> {
        let mut command = tessera_subprocess::own_command()?;
        // A server that allows changes has the consent of its user, and nobody can answer a prompt.
        command.args(["--json", "--no-input", "--yes", "--quiet"]).args(&self.deployment);
        if !self.allow_changes {
            command.arg("--read-only");
        }
        command.args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env(PARENT_VARIABLE, process::id().to_string());
        let child = command.spawn()?;
        let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        match self.running.lock().get_mut(key) {
            Some(running) => *running = process,
            None => terminate(process),
        }
        child.wait_with_output()
    }

    /// Stops a call, which then gets no response.
    fn stop(&self, id: &Value) {
        terminate(self.running.lock().remove(&id.to_string()).flatten());
    }
}

fn terminate(process: Option<Pid>) {
    if let Some(process) = process {
        // The process may have ended already.
        let _ = kill_process(process, Signal::TERM);
    }
}

fn initialization(parameters: &Value) -> Value {
    let asked = parameters["protocolVersion"].as_str().unwrap_or_default();
    // Versions are dates. A client also speaks the versions before its own.
    let version = VERSIONS.into_iter().find(|known| *known <= asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "tessera", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "Search and judge datasets of images and videos. Begin with dataset_list. \
                         search_caption finds pictures by words, search_vql by filters, search_media by a similar picture. \
                         report and check describe the quality of a dataset.",
    })
}

/// Returns the JSON schema of an argument.
fn property(argument: &Value) -> Value {
    let mut one = match argument["type"].as_str() {
        Some("flag" | "boolean") => json!({ "type": "boolean" }),
        Some("integer") => json!({ "type": "integer" }),
        Some("number") => json!({ "type": "number" }),
        Some("number_or_percent") => json!({ "type": ["integer", "string"] }),
        Some("choice") => json!({ "type": "string", "enum": argument["choices"] }),
        _ => json!({ "type": "string" }),
    };
    if argument["repeatable"] == true {
        one = json!({ "type": "array", "items": one });
    }
    one["description"] = argument["about"].clone();
    one
}

/// Returns the texts of an argument: a text, a number, a flag, or a list of texts.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Number(number) => Some(vec![number.to_string()]),
        Value::Bool(flag) => Some(vec![flag.to_string()]),
        Value::Array(list) => {
            list.iter().map(|each| each.as_str().map(ToOwned::to_owned)).collect()
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Returns the given arguments as the words of a command line. No value can be read as an option.
fn options_and_positionals(
    arguments: &[&Value],
    values: &Map<String, Value>,
) -> Result<Vec<String>, String> {
    let (mut words, mut positionals) = (Vec::new(), Vec::new());
    for argument in arguments {
        let key = argument["name"].as_str().unwrap_or_default();
        let Some(value) = values.get(key).filter(|value| !value.is_null()) else { continue };
        let wrong = || format!("the argument {key} has a wrong type");
        let texts = texts(value).ok_or_else(wrong)?;
        match argument["long"].as_str() {
            Some(long) if argument["type"] == "flag" => {
                let is_set = value.as_bool().ok_or_else(wrong)?;
                words.extend(is_set.then(|| long.to_owned()));
            }
            // The option takes two values, even those that begin with a hyphen.
            Some(long) if key == "no_leaks" => {
                let (pairs, []) = texts.as_chunks::<2>() else { return Err(wrong()) };
                for [a, b] in pairs {
                    words.extend([long, a, b].map(str::to_owned));
                }
            }
            Some(long) => words.extend(texts.iter().map(|text| format!("{long}={text}"))),
            None => positionals.extend(texts),
        }
    }
    // After `--`, clap skips an argument that may be missing before one that may not.
    let needs_end = positionals.iter().any(|value| value.starts_with('-'));
    words.extend(needs_end.then(|| "--".to_owned()));
    words.append(&mut positionals);
    Ok(words)
}

fn text_content(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The entries that a result has of each list in a document. Assistants refuse or set aside long results.
#[derive(Clone, Copy, Debug)]
struct Window {
    offset: usize,
    limit: usize,
}

impl Window {
    const DEFAULT: Self = Self { offset: 0, limit: 10 };

    fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    /// Returns the JSON schemas of the arguments that every tool has.
    fn properties() -> [(String, Value); 2] {
        let property = |name: &str, minimum, default, about: &str| {
            let schema = json!({
                "type": "integer", "minimum": minimum, "default": default, "description": about,
            });
            (name.to_owned(), schema)
        };
        let Self { offset, limit } = Self::DEFAULT;
        [
            property("limit", 1, limit, "Maximum number of entries of each list in the result."),
            property("offset", 0, offset, "Number of entries of each list to skip."),
        ]
    }

    /// Takes the window out of the arguments of a call.
    fn take_from(arguments: &mut Map<String, Value>) -> Result<Self, String> {
        let mut take = |name: &str, minimum, default| match arguments.remove(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
                .filter(|number| *number >= minimum)
                .ok_or_else(|| {
                    format!("the argument {name} is not an integer of at least {minimum}")
                }),
        };
        let Self { offset, limit } = Self::DEFAULT;
        Ok(Self { limit: take("limit", 1, limit)?, offset: take("offset", 0, offset)? })
    }

    /// Cuts the lists of a document. Returns a sentence about each list that has more entries, and how to get them.
    fn cut(self, document: &mut Value) -> Vec<String> {
        // A search ends after the entries that it was asked for, so it does not know how many there are.
        let at_least = if document["truncated"] == true { "at least " } else { "" };
        let (end, nested_limit) = (self.end(), self.limit.max(Self::DEFAULT.limit));
        let mut remarks = Vec::new();
        each_list(document, &mut |name, entries| {
            let all = entries.len();
            entries.truncate(end);
            entries.drain(..self.offset.min(entries.len()));
            if entries.len() < all {
                let shown = format!("`{name}` has {} of {at_least}{all} entries", entries.len());
                let next = format!("; get the next ones with the offset {end}");
                remarks.push(if end < all { shown + &next } else { shown });
            }
            let mut longest = 0;
            for entry in entries {
                each_list(entry, &mut |_, nested| {
                    longest = longest.max(nested.len());
                    nested.truncate(nested_limit);
                });
            }
            if longest > nested_limit {
                remarks.push(format!(
                    "lists in the entries of `{name}` end after {nested_limit}; get up to {longest} with a higher limit"
                ));
            }
        });
        remarks
    }
}

/// Changes the lists of a document, but not the lists inside of their entries.
fn each_list(value: &mut Value, change: &mut impl FnMut(&str, &mut Vec<Value>)) {
    for (name, field) in value.as_object_mut().into_iter().flatten() {
        match field {
            Value::Array(entries) => change(name, entries),
            field => each_list(field, change),
        }
    }
}

/// Returns the result of a call: the document of the command, and its messages. A failed check is a result, not an
/// error, and so is a result that is not complete. The document is only sent as text, which every client reads.
fn call_result(output: &Output, window: Window) -> Value {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let results = [Exit::Done, Exit::CheckFailed, Exit::Incomplete].map(|exit| exit as i32);
    let has_failed = output.status.code().is_none_or(|code| !results.contains(&code));
    let mut texts = match serde_json::from_str::<Value>(&out) {
        Ok(mut document) => {
            let remarks = window.cut(&mut document);
            vec![document.to_string(), remarks.join("\n")]
        }
        Err(_) => vec![out.trim().to_owned()],
    };
    texts.push(err.trim().to_owned());
    texts.retain(|text| !text.is_empty());
    let content: Vec<Value> = texts.iter().map(|text| text_content(text)).collect();
    json!({ "content": content, "isError": has_failed })
}

fn respond(id: &Value, outcome: Result<Value, (i32, String)>) -> CliResult<()> {
    let response = match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    };
    write_stdout(&PrintableText::compact_json(&response))
}
