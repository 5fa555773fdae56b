//! Tests `--dry-run` and `--print` of every command: nothing is sent and nothing on this machine changes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tessera_testing::tiny_model::ModelFolder;

use super::{home, piped, run, serve};

/// What a command does in a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DryRun {
    /// It changes nothing on this machine and at no service, and may send its request.
    ReadsOnly,
    /// It shows a request or a plan, which needs a task that is running or was interrupted.
    NeedsTask,
    /// It prints the request that it would send.
    ShowsRequest,
    /// It prints the change on this machine that it would make.
    ShowsChange,
    /// It prints the document of the change with what it would change.
    ShowsPlan,
    /// It is refused.
    Refused,
}
use DryRun::*;

/// Every command, with arguments that would change something. ITEM and CLUSTER are in the dataset, and OUT does not
/// exist.
const COMMANDS: &[(DryRun, &str)] = &[
    (ShowsRequest, "api POST datasets"),
    (ShowsRequest, "auth import -p prod --cookie-stdin --insecure-storage"),
    (ShowsChange, "auth logout -p prod"),
    (ShowsRequest, "auth status -p prod"),
    (ReadsOnly, "auth token"),
    (ShowsRequest, "check --max-blur 0 --junit OUT"),
    (ReadsOnly, "completion"),
    (ShowsChange, "config edit"),
    (ReadsOnly, "config get"),
    (ReadsOnly, "config path"),
    (ReadsOnly, "config schema"),
    (ShowsChange, "config set ui.mouse true"),
    (ReadsOnly, "config show"),
    (ShowsChange, "config unset default_profile"),
    (ReadsOnly, "config validate"),
    (ShowsRequest, "dataset cancel"),
    (ShowsChange, "dataset diverse 1 --name other"),
    (ShowsChange, "dataset embeddings export OUT.parquet"),
    (ShowsPlan, "dataset embeddings import VECTORS.parquet"),
    (ShowsChange, "dataset embeddings remove"),
    (ReadsOnly, "dataset leaks"),
    (ReadsOnly, "dataset list"),
    (Refused, "dataset open"),
    (ShowsChange, "dataset pin -p here"),
    (ShowsRequest, "dataset remove"),
    (ShowsRequest, "dataset rename other"),
    (ShowsRequest, "dataset rescan"),
    (ReadsOnly, "dataset show"),
    (ShowsRequest, "dataset split 80/20"),
    (ShowsChange, "dataset unpin -p prod -d 95233006-eddc-11ef-b303-000000000001"),
    (ReadsOnly, "dataset wait"),
    (ReadsOnly, "dataset watch"),
    (Refused, "demo"),
    (ReadsOnly, "doctor"),
    (ShowsPlan, "duplicates --keep largest --trash"),
    (ReadsOnly, "enrichment show"),
    (ShowsRequest, "export download TASK --dir . --force"),
    (ReadsOnly, "export inspect"),
    (ReadsOnly, "export list"),
    (ShowsRequest, "export start --list OUT"),
    (ReadsOnly, "export status"),
    (ReadsOnly, "export watch"),
    (ReadsOnly, "image show"),
    (ShowsChange, "init --local pictures --name other"),
    (NeedsTask, "jobs cancel JOB"),
    (ShowsChange, "jobs forget --ended"),
    (ReadsOnly, "jobs list"),
    (ReadsOnly, "jobs show"),
    (ReadsOnly, "jobs watch"),
    (ShowsChange, "man --dir OUT"),
    (Refused, "mcp --allow-changes"),
    (ShowsPlan, "media add --file new.png"),
    (ShowsPlan, "media copy --to OUT --media ITEM"),
    (ShowsPlan, "media link --to OUT --media ITEM"),
    (ShowsPlan, "media move --to OUT --media ITEM"),
    (NeedsTask, "media resume"),
    (ShowsPlan, "media trash --media ITEM"),
    (ShowsPlan, "media undo"),
    (ShowsChange, "model add MODEL --name other"),
    (ReadsOnly, "model check"),
    (ShowsChange, "model get starter"),
    (ReadsOnly, "model list"),
    (ShowsChange, "model remove tiny"),
    (Refused, "open pictures"),
    (ShowsChange, "profile add other --kind local --folder pictures"),
    (ReadsOnly, "profile list"),
    (ShowsChange, "profile remove prod"),
    (ReadsOnly, "profile show"),
    (ShowsChange, "profile use prod"),
    (ReadsOnly, "query add"),
    (ReadsOnly, "query check"),
    (ReadsOnly, "query explain"),
    (ReadsOnly, "query fmt"),
    (ReadsOnly, "query list"),
    (ReadsOnly, "query new"),
    (ShowsChange, "query remove v"),
    (ShowsRequest, "query run v --mark other"),
    (ShowsChange, "query save other --vql []"),
    (ShowsRequest, "reindex --force"),
    (ShowsRequest, "report -o OUT"),
    (ShowsRequest, "search anchor ITEM --type MEDIA --mark other"),
    (ShowsRequest, "search browse --mark other --save other"),
    (ShowsRequest, "search caption red --mark other --save other"),
    (ShowsRequest, "search image new.png --mark other"),
    (ShowsRequest, "search media ITEM --mark other"),
    (ShowsRequest, "search vql --label red --mark other"),
    (ShowsChange, "selection add --media ITEM"),
    (ShowsChange, "selection clear --name s"),
    (ShowsChange, "selection exclude --name s --cluster CLUSTER^ITEM"),
    (ShowsChange, "selection export --name s OUT"),
    (ShowsChange, "selection import SELECTION"),
    (ReadsOnly, "selection list"),
    (ShowsChange, "selection remove --name s --cluster CLUSTER"),
    (ReadsOnly, "selection show"),
    (Refused, "serve pictures"),
    (ReadsOnly, "set intersect"),
    (ReadsOnly, "set minus"),
    (ReadsOnly, "set union"),
    (ReadsOnly, "spec"),
    (ShowsChange, "store init --store postgres://127.0.0.1:9/media"),
    (ShowsChange, "store revoke --data index"),
    (ReadsOnly, "store status"),
    (ShowsRequest, "tag add a --media ITEM"),
    (ShowsRequest, "tag create b red"),
    (ShowsRequest, "tag delete t"),
    (ReadsOnly, "tag list"),
    (ShowsRequest, "tag rate 3 --media ITEM"),
    (ShowsRequest, "tag remove t --media ITEM"),
    (ShowsRequest, "tag rename t other"),
    (ShowsRequest, "tag undo"),
    (Refused, "tui"),
    (ReadsOnly, "version"),
    (Refused, "work --store postgres://127.0.0.1:9/media"),
];

/// Returns the files of a home with their contents, without what indexing and traces write.
fn contents(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_kept = |entry: &walkdir::DirEntry| {
        let is_trace = entry.path().extension().is_some_and(|end| end == "trace");
        !is_trace && entry.file_name() != "local"
    };
    let entries = walkdir::WalkDir::new(home).into_iter().filter_entry(is_kept);
    let files = entries.map(|entry| entry.unwrap().into_path()).filter(|path| path.is_file());
    // Opening a journal ends its last line, which may have been cut off.
    let read = |path: &Path| fs::read(path).unwrap().trim_ascii_end().to_vec();
    files.map(|path| (path.clone(), read(&path))).collect()
}

struct DryRunHome {
    home: tempfile::TempDir,
    model: ModelFolder,
    media: String,
    cluster: String,
    task: String,
}

impl DryRunHome {
    /// Creates a home in which every command has something to change.
    fn new() -> Self {
        let (home, pictures) = home();
        let path = home.path();
        for copy in ["pictures/b.png", "new.png"] {
            fs::copy(pictures.join("a.png"), path.join(copy)).unwrap();
        }
        let model = ModelFolder::clip();
        let mut fixture =
            Self { model, media: String::new(), cluster: String::new(), task: String::new(), home };
        for line in [
            "profile add here --kind local --folder pictures --use",
            "profile add prod --kind hosted --base-url https://media.example --api-key k --pin 95233006-eddc-11ef-b303-000000000001",
            "model add MODEL --name tiny",
            "search browse --mark s",
            "query save v --vql []",
            "dataset embeddings export VECTORS.parquet",
            "export start --wait --download .",
            "tag add t --all",
            "selection export --name s SELECTION",
        ] {
            let (code, _, err) = fixture.run(line);
            assert_eq!(code, 0, "{line}: {err}");
        }
        fixture.read_ids();
        let (code, _, err) = fixture.run("media copy --to COPIES --media ITEM");
        assert_eq!(code, 0, "{err}");
        let secret = ["auth", "import", "-p", "prod", "--secret-stdin", "--api-key", "k"];
        let (code, _, err) =
            piped(fixture.home.path(), &[&secret[..], &["--insecure-storage"]].concat(), "s3cret");
        assert_eq!(code, 0, "{err}");
        let index = fixture.home.path().join("index");
        drop(serve(
            fixture.home.path(),
            &[pictures.to_str().unwrap(), "--data", index.to_str().unwrap()],
        ));
        fixture
    }

    fn read_ids(&mut self) {
        let read = |line: &str, path: &str| -> String {
            let found: Value = serde_json::from_str(&self.run(line).1).unwrap();
            found.pointer(path).unwrap().as_str().unwrap().to_owned()
        };
        let cluster = read("selection show --name s --json", "/_entries/0/cluster_id");
        let media = read("search browse --flat --json", "/previews/0/media_id");
        let task = read("export list --json", "/exports/0/id");
        (self.cluster, self.media, self.task) = (cluster, media, task);
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        let home = self.home.path();
        let place = |word: &str| {
            let word = word.replace("CLUSTER", &self.cluster).replace("ITEM", &self.media);
            let word = word.replace("TASK", &self.task);
            match word.as_str() {
                "MODEL" => self.model.path().to_str().unwrap().to_owned(),
                "pictures" | "index" | "new.png" | "SELECTION" | "VECTORS.parquet" | "COPIES"
                | "EXPORTED" | "OUT" | "OUT.parquet" | "." => {
                    home.join(word).to_str().unwrap().to_owned()
                }
                _ => word,
            }
        };
        let words: Vec<String> = line.split(' ').map(place).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(home, &[&words[..], &["--yes"]].concat())
    }
}

#[test]
fn a_dry_run_of_a_command_changes_nothing() {
    let fixture = DryRunHome::new();
    let before = contents(fixture.home.path());
    let is_tried = |(expected, _): &&(DryRun, _)| !matches!(expected, ReadsOnly | NeedsTask);
    for (expected, line) in COMMANDS.iter().filter(is_tried) {
        let (code, out, err) = fixture.run(&format!("{line} --dry-run --json"));
        let document: Value = serde_json::from_str(&out).unwrap_or_default();
        let is_shown =
            |field: &str| document["schema"] == "tessera.dry_run/1" && document[field].is_string();
        let found = match code {
            2 => Refused,
            _ if is_shown("url") => ShowsRequest,
            _ if is_shown("change") => ShowsChange,
            _ => ShowsPlan,
        };
        assert_eq!(found, *expected, "{line}: {code} {out}{err}");
        fixture.run(&format!("{line} --print curl"));
        let after = contents(fixture.home.path());
        let changed: Vec<_> = before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path) != after.get(*path))
            .collect();
        assert!(changed.is_empty(), "{line}: {changed:?}");
    }
}

#[test]
fn an_unknown_field_is_refused_before_a_command_sends_or_changes_anything() {
    let fixture = DryRunHome::new();
    let before = contents(fixture.home.path());
    let mut wrong = Vec::new();
    for (_, line) in COMMANDS.iter().filter(|(kind, _)| !matches!(kind, ReadsOnly | Refused)) {
        let line = format!("{line} --verbose --json=nope");
        let (code, out, err) = fixture.run(&line);
        // Some commands have no fields.
        let reasons = ["unknown field `nope`", "remove --json", "no columns for --json"];
        let is_refused = code == 2 && reasons.iter().any(|reason| err.contains(reason));
        if !is_refused
            || !out.is_empty()
            || err.contains(" -> ")
            || contents(fixture.home.path()) != before
        {
            wrong.push(format!("{line}: {code} {out}{err}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_service_of_a_folder_is_not_for_curl() {
    let (home, _) = home();
    let line = ["search", "browse", "--folder", "photos", "--print", "curl"];
    let (code, _, err) = run(home.path(), &line);
    assert!(code == 2 && err.contains("tessera serve"), "{code} {err}");
}

#[test]
fn a_change_prints_one_document_and_a_text_is_no_document() {
    let fixture = DryRunHome::new();
    for line in [
        "config set ui.mouse true",
        "config unset ui.mouse",
        "dataset pin -p here",
        "dataset embeddings export OUT.parquet",
        "model add MODEL --name other",
        "model remove other",
        "profile use here",
        "query save other --vql []",
        "query remove other",
        "report -o OUT",
        "selection add --media ITEM",
        "selection exclude --name s --cluster CLUSTER^ITEM",
        "selection export --name s EXPORTED",
        "selection import SELECTION",
        "selection remove --name s --cluster CLUSTER",
        "selection clear --name s",
        "store revoke --data index",
        "jobs forget --ended",
        "profile remove prod",
    ] {
        let (code, out, err) = fixture.run(&format!("{line} --json"));
        let document: Value = serde_json::from_str(&out).unwrap_or_default();
        assert!(code == 0 && document["schema"].is_string(), "{line}: {code} {out}{err}");
    }
    for line in [
        "auth token --json",
        "completion bash --json",
        "man --csv",
        "man --dir OUT --jsonl",
        "check --max-blur 0 --junit - --json",
        "dataset split 80/20 --list - --csv",
        "report --csv",
        "report --html --json",
    ] {
        let (code, out, err) = fixture.run(line);
        assert!(code == 2 && out.is_empty() && err.contains("--"), "{line}: {code} {out}{err}");
    }
    let (code, _, err) = fixture.run("store revoke --data index --read-only");
    assert!(code == 6 && err.contains("changes are disabled"), "{code}: {err}");
}

#[test]
fn every_command_is_classified_by_its_dry_run() {
    fn leaves(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path}{} ", sub.get_name());
            if sub.has_subcommands() && !path.starts_with("query add") {
                leaves(sub, &path, all);
            } else {
                all.push(path);
            }
        }
    }
    let mut all = Vec::new();
    leaves(&tessera::cli::definition(), "", &mut all);
    let is_known = |path: &&String| {
        !COMMANDS.iter().any(|(_, line)| format!("{line} ").starts_with(path.as_str()))
    };
    let missing: Vec<_> = all.iter().filter(is_known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
