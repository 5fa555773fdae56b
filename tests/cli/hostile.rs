//! Tests hostile text in every field of a service, in file names and in arguments. No command may write anything that a
//! terminal interprets, neither to a pipe nor to a terminal.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};

use super::{picture, tessera};
use crate::{hostile::corpus::corpus, terminal::pty::Program};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";
const TASK: &str = "cf8b3e78-0000-4954-a782-000000000001";

/// A short text with one example of each kind, so that no limit removes its end.
const MIX: &str = "b\x1b]0;t\x07\x1b[2J\u{9b}31m\r\n\u{202e}\u{200b}\u{e0041}\x7f\x00'; $(x) `x`";

/// Returns a dataset record with `text` in each field.
fn dataset(id: &str, text: &str) -> Value {
    json!({
        "id": id, "display_name": text, "owned_by": text, "created_at": text, "status_new": "READY",
        "description": text, "n_images": 1, text: text,
    })
}

fn cluster(number: usize, text: &str) -> Value {
    let id = format!("00000000-0000-4000-8000-{number:012}");
    json!({
        "cluster_id": id, "type": "IMAGES", "similarity_threshold": text, "labels": [text],
        "user_tags": [{ "id": id, "name": text }], "captions": [text],
        "previews": [{
            "media_id": id, "type": text, "caption": text, "file_name": text, "relevance_score": 0.5,
            "relevance_score_type": text, "media_uri": format!("https://a.example/{text}"),
            "media_thumb_uri": format!("/{text}"),
        }],
    })
}

fn answer(seen: &ReceivedRequest) -> Reply {
    let path = seen.path();
    let all = corpus();
    let value = if path.ends_with("/datasets") {
        let id = |number: usize| format!("ad48d250-0000-11f1-bfca-{number:012}");
        (1..).zip(&all).map(|(number, text)| dataset(&id(number), text)).collect()
    } else if path.contains("/explore/") {
        let clusters: Vec<_> = (1..).zip(&all).map(|(n, text)| cluster(n, text)).collect();
        json!({ "clusters": clusters })
    } else if path.ends_with("/export_status") {
        json!({ "status": "FAILED", "message": MIX, "file_name": MIX })
    } else if path.contains("list_models") || path.contains("enrichment") {
        json!({ MIX: MIX })
    } else if path.contains("/dataset/") && seen.method == "GET" {
        dataset(ID, MIX)
    } else {
        return Reply::new(400, &[("x-detail", "a")], json!({ "detail": MIX }).to_string());
    };
    Reply::json(value.to_string())
}

/// The arguments of a command as bytes: words, file names, and names that are not UTF-8.
struct Case(Vec<Vec<u8>>);

fn case(words: &str) -> Case {
    let hostile = |word: &str| match word {
        "MIX" => MIX.replace('\0', "").into_bytes(),
        "FILE" => hostile_name(),
        "PICTURE" => picture_name(),
        word => word.replace("ID", ID).replace("TASK", TASK).into_bytes(),
    };
    Case(words.split(' ').map(hostile).collect())
}

/// Returns a name that is not UTF-8.
fn hostile_name() -> Vec<u8> {
    [MIX.replace('\0', "").as_bytes(), b"\xff\xfe.png"].concat()
}

fn picture_name() -> Vec<u8> {
    [b"picture".as_slice(), &hostile_name()].concat()
}

/// Every command, most of them with hostile arguments. `every_command_is_tried` compares this list with the program.
const CASES: &[&str] = &[
    "api GET datasets --include",
    "api GET nothing/MIX",
    "auth import -p MIX --secret-stdin --api-key MIX",
    "auth import --secret-stdin --api-key MIX --insecure-storage",
    "auth logout -p MIX",
    "auth status",
    "auth token",
    "completion bash",
    "check ID --max-blur MIX",
    "check ID --max-blur 0 --junit FILE",
    "check ID --max-blur 0 --sarif FILE",
    "config edit",
    "config get MIX",
    "model add MIX",
    "model add FILE --name MIX",
    "model check MIX",
    "model get MIX",
    "model list",
    "model list --available",
    "model remove MIX",
    "config path --all",
    "config schema",
    "config set MIX MIX",
    "config show",
    "config unset MIX",
    "config validate",
    "dataset cancel ID",
    "dataset leaks MIX MIX ID",
    "dataset list",
    "dataset list --csv",
    "dataset list --json",
    "dataset list --jq .",
    "dataset list --jq .datasets[].display_name",
    "dataset open MIX",
    "dataset pin MIX",
    "dataset remove ID --yes",
    "dataset rename ID MIX",
    "dataset rescan ID",
    "dataset show ID",
    "dataset show MIX",
    "dataset show ID --raw",
    "dataset split 80/20 ID --names MIX,b --force",
    "dataset diverse 3 ID --name MIX --force",
    "dataset embeddings export FILE -d ID",
    "dataset embeddings import FILE --names FILE -d ID",
    "dataset embeddings remove -d MIX",
    "dataset unpin MIX",
    "dataset wait ID",
    "dataset watch ID --until READY",
    "demo MIX",
    "doctor",
    "doctor --report",
    "duplicates ID --keep MIX",
    "duplicates ID",
    "enrichment show ID --raw",
    "enrichment show ID",
    "export download ID TASK",
    "export download ID TASK --dir FILE --extract FILE",
    "export inspect FILE",
    "export list ID",
    "export status ID TASK",
    "export start ID --name MIX --print curl",
    "export start ID --name MIX --dry-run",
    "export start ID --name MIX",
    "export watch ID TASK",
    "image show FILE",
    "init --from-env",
    "init --local FILE --name MIX",
    "jobs cancel MIX",
    "jobs forget MIX",
    "jobs list --all",
    "jobs show MIX",
    "jobs watch MIX",
    "man",
    "mcp",
    "media add ID --dir FILE",
    "media add ID --file FILE --print curl",
    "media add ID --file FILE --dry-run",
    "media add ID --file FILE",
    "media add ID --file FILE --verbose",
    "media add ID --server-path MIX --print-script",
    "media add ID --s3 MIX --print curl",
    "media copy ID --to MIX --media ID",
    "media link ID --to FILE --files-from FILE",
    "media move ID --to FILE --selection MIX",
    "media resume",
    "media trash ID --caption MIX",
    "media undo",
    "nonsense MIX",
    "open FILE",
    "profile add MIX --kind hosted --base-url MIX",
    "profile list",
    "profile remove MIX",
    "profile show MIX",
    "profile use MIX",
    "query add any_of MIX",
    "query add aspect is MIX",
    "query add column MIX is MIX",
    "query add date is MIX",
    "query add duplicates MIX",
    "query add format is MIX",
    "query add height is MIX",
    "query add issues MIX",
    "query add labels any MIX",
    "query add name is MIX",
    "query add not MIX",
    "query add path is MIX",
    "query add rating is MIX",
    "query add similarity MIX MIX",
    "query add size is MIX",
    "query add tags any MIX",
    "query add text fts MIX",
    "query add text semantic MIX",
    "query add uniqueness MIX",
    "query add width is MIX",
    "query check FILE",
    "query explain FILE",
    "query explain --vql MIX",
    "query fmt FILE",
    "query list",
    "query new",
    "query remove MIX",
    "query run MIX",
    "query save MIX --vql []",
    "reindex ID",
    "report ID --html -o FILE",
    "report ID",
    "search anchor MIX --anchor-type MIX",
    "search anchor ID --anchor-type MEDIA -d ID",
    "search browse -d ID",
    "search browse -d ID --csv",
    "search browse -d ID --json",
    "search browse -d ID --verbose",
    "search caption MIX -d ID",
    "search caption MIX -d ID --print curl",
    "search image FILE -d ID",
    "search image PICTURE -d ID --print curl",
    "search media ID -d ID",
    "search vql -d ID --file FILE",
    "search vql -d ID --vql MIX",
    "selection add ID --name MIX --media ID",
    "selection add ID --name a --media ID",
    "selection clear ID",
    "selection exclude ID --name a --media ID",
    "selection export ID --name a FILE",
    "selection import ID --name a FILE",
    "selection list",
    "selection remove ID --name MIX",
    "selection show ID",
    "serve FILE --allow-path FILE",
    "serve --explain",
    "set intersect FILE FILE",
    "set minus FILE FILE",
    "set union FILE FILE",
    "spec",
    "store init --store MIX",
    "store revoke --store postgres://MIX@127.0.0.1:9/MIX --data FILE",
    "store status --store postgres://MIX@127.0.0.1:9/MIX",
    "tag add MIX --media ID",
    "tag create MIX red",
    "tag delete MIX",
    "tag list ID",
    "tag rate 3 --all",
    "tag remove MIX --files-from FILE",
    "tag rename MIX MIX",
    "tag undo",
    "tui MIX",
    "version",
    "work --store MIX",
];

/// The sequences that our program writes itself: styles, progress bars, half-blocks, and the
/// queries of the probe.
const OUR_SEQUENCES: &[&str] = &[
    "\x1b[1m",
    "\r\u{2502}\x1b[6n\r",
    "\x1b[0m",
    "\x1b[4m",
    "\x1b[31m",
    "\x1b[32m",
    "\x1b[33m",
    "\r\x1b[K",
    "\x1b]9;4;0;\x07",
    "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
    "\x1b[>q",
    "\x1b[16t",
    "\x1b[?2;1;0S",
    "\x1b[?2;4;0S",
    "\x1b[?u",
    "\x1b]11;?\x07",
    "\x1b[c",
];

/// Creates a home with a file and a folder of hostile names.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(OsStr::from_bytes(&hostile_name())), b"{ \"a\"").unwrap();
    let picture_file = home.path().join("a.png");
    picture(&picture_file);
    fs::rename(picture_file, home.path().join(OsStr::from_bytes(&picture_name()))).unwrap();
    home
}

/// Returns the first characters of `text` that a terminal interprets, with the text around them.
fn interpreted(text: &str) -> Option<String> {
    let controls = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(u32::from(c), 0x61C | 0x200B | 0x200E | 0x200F | 0x2028..=0x202E
                | 0x2060..=0x206F | 0xE000..=0xF8FF | 0xFEFF | 0xFFF9..=0xFFFB | 0xE_0000..=0x10_FFFF)
    };
    let at = text.chars().position(controls)?;
    Some(text.chars().skip(at.saturating_sub(40)).take(80).collect())
}

fn asking(url: &str, home: &Path, Case(words): &Case) -> Command {
    let mut command = tessera(home, &["--base-url", url, "--kind", "onprem", "--retries", "0"]);
    command.args(words.iter().map(|word| OsStr::from_bytes(word))).current_dir(home);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_writes_what_a_terminal_interprets_to_a_pipe() {
    let server = ScriptedServer::start(answer).await;
    let (url, home) = (server.url(), home());
    let mut wrong = Vec::new();
    for words in CASES {
        let mut command = asking(&url, home.path(), &case(words));
        let Output { stdout, stderr, .. } = command.env("EDITOR", "true").output().unwrap();
        let stdout = String::from_utf8(stdout).expect(words);
        assert!(*words != "dataset list" || stdout.matches('␛').count() > 50);
        assert!(*words != "search browse -d ID" || stdout.matches('␛').count() > 50);
        // The body of a response is written unchanged, but only to a pipe.
        let stdout = if words.starts_with("api ") { String::new() } else { stdout };
        let stderr = String::from_utf8(stderr).expect(words);
        wrong.extend([stdout, stderr].iter().filter_map(|it| Some((words, interpreted(it)?))));
    }
    let files = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let traces: Vec<_> =
        files.filter(|it| it.extension().is_some_and(|end| end == "trace")).collect();
    assert!(traces.len() > CASES.len() / 2, "{traces:?}");
    for trace in &traces {
        let text = fs::read_to_string(trace).unwrap();
        wrong.extend(interpreted(&text).map(|found| (&"the trace", found)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_writes_what_a_terminal_interprets_to_a_terminal() {
    let server = ScriptedServer::start(answer).await;
    let url = server.url();
    let mut wrong = Vec::new();
    for words in CASES {
        // These commands take over the terminal. The interface has tests of its own.
        if ["dataset open", "init", "tui"].iter().any(|interface| words.starts_with(interface)) {
            continue;
        }
        let Case(words_of) = case(words);
        let mut program = Program::command(home(), |command, home| {
            command.args(["--base-url", &url, "--kind", "onprem", "--retries", "0", "--no-input"]);
            command.args(words_of.iter().map(|word| OsStr::from_bytes(word)));
            command.cwd(home);
            command.env("TESSERA_GRAPHICS", "half");
            command.env("EDITOR", "true");
        });
        program.wait();
        let mut text = program.output().replace("\r\n", "\n");
        for sequence in OUR_SEQUENCES {
            text = text.replace(sequence, "");
        }
        wrong.extend(interpreted(&text).map(|found| (words, found)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_path_that_is_not_utf8_is_opened_exactly() {
    let home = tempfile::tempdir().unwrap();
    let names: [&[u8]; 2] = [b"q\xff.json", "q\u{fffd}.json".as_bytes()];
    for (name, word) in names.iter().zip(["exact", "lossy"]) {
        let query = json!([{ "text": { "op": "fts", "value": word } }]);
        fs::write(home.path().join(OsStr::from_bytes(name)), query.to_string()).unwrap();
    }
    for locale in ["C", "C.UTF-8"] {
        let mut command = tessera(home.path(), &["query", "fmt"]);
        command.arg(OsStr::from_bytes(names[0])).env("LC_ALL", locale).current_dir(home.path());
        let Output { stdout, stderr, .. } = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let both = format!("{out}{err}");
        assert!(both.contains("exact") && !both.contains("lossy"), "{locale}: {both}");
    }
}

#[test]
fn every_command_is_tried() {
    fn leaves(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path}{} ", sub.get_name());
            if sub.has_subcommands() { leaves(sub, &path, all) } else { all.push(path) }
        }
    }
    let mut all = Vec::new();
    leaves(&tessera::cli::definition(), "", &mut all);
    let tried =
        |path: &&String| !CASES.iter().any(|case| format!("{case} ").starts_with(path.as_str()));
    let missing: Vec<_> = all.iter().filter(tried).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
