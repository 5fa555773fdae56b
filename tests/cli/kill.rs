//! Tests the real binary by killing it at any moment. After the next start, accepted work
//! completes, nothing is lost or duplicated, and no state is stuck.

use std::{
    collections::BTreeSet,
    io::{Cursor, Write as _},
    net::TcpStream,
    process::Stdio,
    time::{Duration, Instant},
};

use reqwest::{Method, multipart::Form};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use walkdir::WalkDir;
use zip::ZipArchive;

use super::{
    run,
    served_folder::{BATCH, PATIENCE, PICTURES, ServedFolder, batch, names, picture},
    tessera,
};

/// The number of kills, unless `TESSERA_KILL_RUNS` gives another one.
const RUNS: u64 = 30;
/// The number of kills in one served folder, which is limited because its dataset grows.
const RUNS_PER_WORLD: u64 = 64;

/// Returns a repeatable number below a limit, for one run and purpose.
pub(super) fn random(run: u64, purpose: u64, limit: u64) -> u64 {
    let bits = (run * 31 + purpose + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) % limit
}

/// The work that is in progress when the process is killed.
#[derive(Clone, Copy)]
enum Work {
    Addition,
    Reindex,
    Export,
    Upload,
    /// An upload for which there is too little memory.
    UploadWithoutMemory,
    Indexing,
    Download,
    Settings,
}

/// A served folder that is READY between two kills, and the names that it has to contain.
struct KillLoop {
    served: ServedFolder,
    expected: BTreeSet<String>,
    run: u64,
}

impl KillLoop {
    /// Reads the record a few times, which chooses the moment of a kill.
    async fn wait(&self) {
        for _ in 0..random(self.run, 1, 30) {
            self.served.record().await;
        }
    }

    fn batch(&self) -> (Form, Vec<String>) {
        let round = u32::try_from(self.run).unwrap();
        (batch(round), (0..BATCH).map(|n| format!("r{round}_{n:03}.png")).collect())
    }

    async fn perform(&mut self, work: Work) {
        match work {
            Work::Addition => {
                let (form, names) = self.batch();
                self.served.post("add_media", Some(form)).await;
                self.wait().await;
                self.served.kill();
                self.expected.extend(names);
                self.served.until(|record| record["status_new"] == "PARTIAL INDEX").await;
                self.served.post("reindex", None).await;
            }
            Work::Reindex => {
                let (form, names) = self.batch();
                self.served.post("add_media", Some(form)).await;
                self.expected.extend(names);
                self.served.until(|record| record["status_new"] == "PARTIAL INDEX").await;
                self.served.post("reindex", None).await;
                self.wait().await;
                self.served.kill();
            }
            Work::Export => self.kill_during_export().await,
            Work::Upload | Work::UploadWithoutMemory => self.kill_during_upload(work).await,
            Work::Indexing => {
                let name = format!("new{:03}.png", self.run);
                let path = self.served.home.path().join("pictures").join(&name);
                std::fs::write(path, picture(500_000 + u32::try_from(self.run).unwrap())).unwrap();
                self.served.kill();
                self.wait().await;
                self.served.kill();
                self.expected.insert(name);
                let count = self.expected.len();
                self.served.until(|record| record["n_images"] == count).await;
            }
            Work::Download => self.kill_download(),
            Work::Settings => self.kill_settings(),
        }
        self.served.until(|record| record["status_new"] == "READY").await;
        assert_eq!(self.served.names().await, self.expected, "run {}", self.run);
    }

    async fn kill_during_export(&mut self) {
        let path = format!("/dataset/{}/export_context_async", self.served.dataset());
        let query = "file_name=a&export_format=json&include_images=true";
        let task = self.served.get(&format!("{path}?{query}")).await;
        self.wait().await;
        self.served.kill();
        let archive = self.served.archive(&task).await;
        assert_eq!(names(&archive), self.expected);
        let zip = ZipArchive::new(Cursor::new(&archive[..])).unwrap();
        assert_eq!(zip.len(), self.expected.len() + 1, "all the images are in it");
    }

    /// Kills the service during an upload. An upload without a response is there either as a whole
    /// or not at all.
    async fn kill_during_upload(&mut self, work: Work) {
        let (form, names) = self.batch();
        let path = format!("/dataset/{}/add_media", self.served.dataset());
        let request = self.served.request(Method::POST, &path).multipart(form);
        if let Work::UploadWithoutMemory = work {
            self.limit_memory();
        }
        let sent = tokio::spawn(request.timeout(PATIENCE).send());
        if let Work::UploadWithoutMemory = work {
            while !sent.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } else {
            for _ in 0..random(self.run, 2, 6) {
                self.served.record().await;
            }
        }
        self.served.kill();
        let is_accepted = sent.await.unwrap().is_ok_and(|response| response.status() == 202);
        let is_idle = |record: &Value| {
            ["READY", "PARTIAL INDEX"].iter().any(|it| record["status_new"] == *it)
        };
        let record = self.served.until(is_idle).await;
        let (known, found) = (self.expected.len(), &record["n_images"]);
        let is_there = *found == known + names.len();
        assert!(
            is_there || (!is_accepted && *found == known),
            "run {}, accepted: {is_accepted}, {known} known and {} sent: {record}",
            self.run,
            names.len()
        );
        if is_there {
            self.expected.extend(names);
        }
        // A complete upload that was not accepted yet is indexed with the folder.
        if record["status_new"] == "PARTIAL INDEX" {
            self.served.post("reindex", None).await;
        }
    }

    /// Limits the process to little more memory than it already uses.
    fn limit_memory(&self) {
        let process = self.served.serving.0.id();
        let pages = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap();
        let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
        let current = Some(pages * 4096 + random(self.run, 4, 8 << 20));
        let process = Some(Pid::from_child(&self.served.serving.0));
        prlimit(process, Resource::As, Rlimit { current, maximum: None }).unwrap();
    }

    /// Runs a command and kills it some time later.
    fn kill_command(&self, arguments: &[&str]) {
        let mut command = tessera(self.served.home.path(), arguments);
        command.env("TESSERA_BASE_URL", self.served.reported("base_url"));
        command.env("TESSERA_KIND", "hosted");
        command.env("TESSERA_API_KEY", self.served.reported("api_key"));
        command.env("TESSERA_API_SECRET", self.served.reported("api_secret"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = Duration::from_millis(random(self.run, 3, 400));
        let begun = Instant::now();
        while begun.elapsed() < moment && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // The command may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Kills a download. Only a complete archive may have the final name, and the saved jobs can be
    /// read.
    fn kill_download(&self) {
        let home = self.served.home.path();
        let name = format!("d{}", self.run);
        let folder = home.to_str().unwrap();
        let start = ["export", "start", "pictures", "--format", "json", "--name", &name];
        self.kill_command(&[&start[..], &["--download", folder]].concat());
        if let Ok(archive) = std::fs::read(home.join(format!("{name}.zip"))) {
            assert_eq!(names(&archive), self.expected);
        }
        let (code, _, err) = run(home, &["config", "validate"]);
        assert_eq!(code, 0, "{err}");
        for entry in WalkDir::new(home).into_iter().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy();
            if name.starts_with("jobs-") && name.ends_with(".json") {
                let journal = std::fs::read(entry.path()).unwrap();
                serde_json::from_slice::<Value>(&journal).unwrap();
            }
        }
    }

    /// Kills a change of the settings. Afterwards, the settings are either the old ones or the new
    /// ones.
    fn kill_settings(&self) {
        let home = self.served.home.path();
        let themes = ["dark", "light"];
        assert_eq!(run(home, &["config", "set", "ui.theme", themes[0]]).0, 0);
        self.kill_command(&["config", "set", "ui.theme", themes[1]]);
        let (code, theme, err) = run(home, &["config", "get", "ui.theme"]);
        assert!(code == 0 && themes.contains(&theme.trim()), "{theme}{err}");
    }
}

#[tokio::test]
async fn what_was_accepted_survives_a_kill_at_any_moment() {
    let runs = std::env::var("TESSERA_KILL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let kinds = [
        Work::Addition,
        Work::Reindex,
        Work::Export,
        Work::Upload,
        Work::UploadWithoutMemory,
        Work::Indexing,
        Work::Download,
        Work::Settings,
    ];
    let mut runs = (0..runs).zip(kinds.into_iter().cycle()).peekable();
    while let Some((first, _)) = runs.peek().copied() {
        let expected = (0..PICTURES).map(|n| format!("p{n:03}.png")).collect();
        let mut kills = KillLoop { served: ServedFolder::new().await, expected, run: first };
        while let Some((run, work)) = runs.next_if(|(run, _)| *run < first + RUNS_PER_WORLD) {
            kills.run = run;
            kills.perform(work).await;
        }
    }
}

#[tokio::test]
async fn a_kill_between_the_two_halves_of_auto_reindex() {
    let mut served = ServedFolder::new().await;
    for (round, moment) in (0..).zip([1, 60]) {
        served.post("add_media", Some(batch(round).text("auto_reindex", "true"))).await;
        for _ in 0..moment {
            served.record().await;
        }
        served.kill();
        let expected = PICTURES + BATCH * (round + 1);
        // An addition with `auto_reindex` never ends in PARTIAL INDEX, even if it was killed.
        let record = served
            .until(|record| {
                assert_ne!(record["status_new"], "PARTIAL INDEX", "{record}");
                record["status_new"] == "READY" && record["n_images"] == expected
            })
            .await;
        assert_eq!(record["progress"], 100);
    }
    assert_eq!(served.names().await.len(), (PICTURES + 2 * BATCH) as usize);
}

#[tokio::test]
async fn a_kill_during_the_first_indexing() {
    let mut served = ServedFolder::begun();
    let mut images = 0;
    for moment in [0, 2, 10] {
        for _ in 0..moment {
            let record = served.record().await;
            assert!(record["n_images"].as_u64().unwrap() >= images, "nothing is lost: {record}");
            images = record["n_images"].as_u64().unwrap();
        }
        served.kill();
    }
    let record = served.until(|record| record["status_new"] == "READY").await;
    assert_eq!(record["n_images"], PICTURES, "{record}");
    assert_eq!(served.names().await.len(), PICTURES as usize);
}

#[tokio::test]
async fn an_upload_that_a_kill_cut_off_is_swept_at_the_next_start() {
    let mut served = ServedFolder::new().await;
    let host = served.reported("base_url").strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!(
        "POST /api/v1/dataset/{}/add_media HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000000\r\n\r\n\
         --X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.png\"\r\n\r\nhalf",
        served.dataset(),
        served.token(),
    );
    stream.write_all(head.as_bytes()).unwrap();
    let staged = || std::fs::read_dir(served.uploads()).map_or(0, Iterator::count);
    let begun = Instant::now();
    while staged() == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing is staged");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    served.kill();
    assert_eq!(std::fs::read_dir(served.uploads()).unwrap().count(), 0);
    let record = served.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(PICTURES)));
}
