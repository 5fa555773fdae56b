//! Tests a service that cannot write or cannot open files. What needs the resource fails with a reason, and everything
//! that only reads continues.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::{
    Method,
    multipart::{Form, Part},
};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};

use super::{
    Serving, outcome, run,
    served_folder::{ServedFolder, batch, picture},
    started, tessera,
};

/// Starts the service with a picture whose archive is larger than anything that the database writes meanwhile.
fn start_with_large_picture(home: &Path) -> Serving {
    let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
    // Decoders ignore the bytes that follow a picture.
    let mut large =
        fs::OpenOptions::new().append(true).open(home.join("pictures/p000.png")).unwrap();
    large.write_all(&vec![0; 2 << 20]).unwrap();
    started(tessera(home, &["serve", &path("pictures"), "--data", &path("data")]))
}

impl ServedFolder {
    fn limit(&self, resource: Resource, current: Option<u64>) {
        let process = Some(Pid::from_child(&self.serving.0));
        let maximum = getrlimit(resource).maximum;
        prlimit(process, resource, Rlimit { current, maximum }).unwrap();
    }

    fn path(&self, rest: &str) -> String {
        format!("/dataset/{}/{rest}", self.dataset())
    }

    async fn page(&self) -> Value {
        self.get(&format!("/explore/{}?entity_type=IMAGES&threshold=0", self.dataset())).await
    }

    async fn links(&self) -> [String; 2] {
        let page = self.page().await;
        let preview = &page["clusters"][0]["previews"][0];
        ["media_thumb_uri", "media_uri"].map(|key| preview[key].as_str().unwrap().to_owned())
    }

    async fn start_export(&self) -> Value {
        let query = "file_name=a&export_format=json&include_images=true";
        self.get(&self.path(&format!("export_context_async?{query}"))).await
    }

    /// Returns the export once it has ended.
    async fn ended(&self, task: &Value) -> Value {
        let begun = Instant::now();
        loop {
            let id = task["id"].as_str().unwrap();
            let task = self.get(&self.path(&format!("export_status?export_task_id={id}"))).await;
            if task["status"] == "COMPLETED" || task["status"] == "FAILED" {
                return task;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "stuck: {task}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sends a query image, which the service stores, and returns the response.
    async fn search(&self) -> reqwest::Response {
        let image = Part::bytes(picture(5)).file_name("query.png");
        let path = self.path("search-image-similarity?entity_type=IMAGES");
        let request = self.request(Method::POST, &path);
        request.multipart(Form::new().part("file", image)).send().await.unwrap()
    }

    async fn assert_failing(&self, method: Method, path: &str, form: Option<Form>) {
        let request = self.request(method, path);
        let request = match form {
            Some(form) => request.multipart(form),
            None => request,
        };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        assert!(matches!(status, 413 | 500 | 503), "{path}: {status} {body}");
        let detail = body["detail"].as_str().unwrap();
        assert!(!detail.is_empty() && !detail.contains('/'), "{detail}");
    }

    async fn assert_readable(&self, expected: &Value) {
        let found = self.page().await;
        assert_eq!(
            found["clusters"].as_array().unwrap().len(),
            expected["clusters"].as_array().unwrap().len()
        );
        for link in self.links().await {
            let response = tessera_testing::clients::raw_client().build().unwrap().get(link);
            assert_eq!(response.send().await.unwrap().status(), 200);
        }
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.home.path().join("data").join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// Asserts that everything that writes fails with a reason and leaves nothing behind, and that
    /// everything else works as before.
    async fn assert_only_reads_work(&self, page: &Value) {
        let uploads = self.files("uploads");
        let export = self.path("export_context_async?file_name=a&export_format=json");
        self.assert_failing(Method::GET, &export, None).await;
        self.assert_failing(Method::POST, &self.path("add_media"), Some(batch(1))).await;
        assert_eq!(self.search().await.status(), 500);
        self.assert_readable(page).await;
        assert_eq!(self.files("uploads"), uploads);
    }
}

#[tokio::test]
async fn without_room_for_an_archive_the_export_fails_with_a_reason() {
    let served = ServedFolder::started_by(start_with_large_picture).await;
    let data = served.home.path().join("data");
    let size = |name: &str| fs::metadata(data.join(name)).map_or(0, |file| file.len());
    let room = size("tessera.db").max(size("tessera.db-wal")) + (64 << 10);
    served.limit(Resource::Fsize, Some(room));
    let task = served.ended(&served.start_export().await).await;
    assert_eq!(task["status"], "FAILED", "{task}");
    assert!(task.to_string().contains("archive could not be written"), "{task}");
    assert_eq!(served.files("exports"), [""; 0]);
    served.limit(Resource::Fsize, None);
    served.archive(&served.start_export().await).await;
}

#[tokio::test]
async fn files_that_cannot_grow_fail_writes_and_no_reads() {
    let served = ServedFolder::started_by(start_with_large_picture).await;
    served.limit(Resource::Fsize, Some(0));
    served.assert_only_reads_work(&served.page().await).await;

    served.limit(Resource::Fsize, None);
    served.post("add_media", Some(batch(0))).await;
    served.until(|record| record["status_new"] == "PARTIAL INDEX").await;
    let page = served.page().await;
    served.limit(Resource::Fsize, Some(0));
    served.assert_failing(Method::POST, &served.path("reindex"), None).await;

    served.limit(Resource::Fsize, None);
    served.post("reindex", None).await;
    served.limit(Resource::Fsize, Some(0));
    served.assert_readable(&page).await;
    served.limit(Resource::Fsize, None);
    let record = served.until(|record| record["status_new"] == "READY").await;
    assert_eq!(record["n_images"].as_u64(), Some(32), "{record}");
    served.archive(&served.start_export().await).await;
    let is_archive = |name: &String| name.strip_suffix(".zip").is_some();
    assert!(served.files("exports").iter().all(is_archive));
}

#[tokio::test]
async fn without_descriptors_requests_fail_with_a_reason_and_others_go_on() {
    let served = ServedFolder::started_by(start_with_large_picture).await;
    let page = served.page().await;
    let [_, original] = served.links().await;
    let path = original.split_once("/media/").unwrap().1.to_owned();
    // Open files stay open, and nothing else can be opened, even when a descriptor becomes free.
    served.limit(Resource::Nofile, Some(0));
    assert_eq!(
        served.page().await["clusters"].as_array().unwrap().len(),
        page["clusters"].as_array().unwrap().len()
    );
    let response =
        served.request(Method::GET, &format!("/../../media/{path}")).send().await.unwrap();
    assert_eq!(response.status(), 500, "a file that is there is not missing");
    let task = served.ended(&served.start_export().await).await;
    assert_eq!(task["status"], "FAILED", "{task}");
    served.limit(Resource::Nofile, Some(1024));
    served.assert_readable(&page).await;
    served.archive(&served.start_export().await).await;
}

#[test]
fn a_command_that_can_open_too_few_files_ends_with_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let command = tessera(home.path(), &["dataset", "list"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 8; exec \"$0\" \"$@\""]).arg(command.get_program());
    let (code, out, err) = outcome(limited.args(command.get_args()));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.starts_with("tessera: cannot start: Too many open files"), "{err}");
}

/// A small file system in memory, which is unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts the file system. Returns `None` and prints the reason if this user may not mount one.
    #[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
    fn mount() -> Option<Self> {
        let disk = Self(tempfile::tempdir().unwrap());
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs"])
            .arg(disk.path())
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: a file system cannot be mounted here");
            return None;
        }
        Some(disk)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The lazy option is needed, because a service that failed may still be running.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

#[tokio::test]
async fn a_full_disk_fails_writes_and_no_reads_and_a_read_only_one_is_refused() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.path();
    let served = world_with_data(data).await;
    let page = served.page().await;
    let filler = fill(data);
    served.assert_only_reads_work(&page).await;
    // Truncating frees the space at once. A child of another test may still have the file open, if it has not executed
    // its program yet.
    filler.set_len(0).unwrap();
    drop(filler);
    fs::remove_file(data.join("filler")).unwrap();
    // Too little space is left for uploads and archives, even after the file is removed.
    assert_eq!(served.search().await.status(), 200);
    let ServedFolder { home, mut serving, .. } = served;
    serving.0.kill().unwrap();
    serving.0.wait().unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(data).status().unwrap();
    assert!(remounted.success());
    let pictures = home.path().join("pictures");
    let (code, out, err) =
        run(home.path(), &["serve", pictures.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("--data") && err.contains("ead-only"), "{err}");
}

#[tokio::test]
async fn an_index_that_cannot_be_opened_on_a_full_disk_names_the_disk() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.path();
    let ServedFolder { home, mut serving, .. } = world_with_data(data).await;
    kill_process(Pid::from_child(&serving.0), Signal::TERM).unwrap();
    serving.0.wait().unwrap();
    fill(data);
    let pictures = home.path().join("pictures");
    let (code, out, err) =
        run(home.path(), &["serve", pictures.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("the disk of the store or of temporary files is full"), "{err}");
}

/// Starts a served folder whose data folder is this folder.
async fn world_with_data(data: &Path) -> ServedFolder {
    let start = |home: &Path| {
        std::os::unix::fs::symlink(data, home.join("data")).unwrap();
        start_with_large_picture(home)
    };
    ServedFolder::started_by(start).await
}

/// Fills a file system. Returns the file that does so.
fn fill(disk: &Path) -> File {
    let mut file = File::create(disk.join("filler")).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
    file
}

impl ServedFolder {
    /// Returns the status and the body of `/readyz`.
    async fn readiness(&self) -> (u16, String) {
        let client = tessera_testing::clients::raw_client().build().unwrap();
        let url = format!("{}/readyz", self.reported("base_url"));
        let response = client.get(url).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

#[tokio::test]
async fn work_on_a_full_disk_continues_when_there_is_space_and_nothing_is_ready_meanwhile() {
    let Some(disk) = SmallDisk::mount() else { return };
    let data = disk.path();
    let served = world_with_data(data).await;
    let more = served.home.path().canonicalize().unwrap().join("pictures/more");
    fs::create_dir(&more).unwrap();
    for number in 0..200 {
        fs::write(more.join(format!("{number}.png")), picture(5_000 + number)).unwrap();
    }
    let filler = fill(data);
    // The operation can be accepted, but its pictures cannot be stored.
    let space = 256 << 10;
    filler.set_len(filler.metadata().unwrap().len() - space).unwrap();
    let path = format!("dataset_id={}&path={}", served.dataset(), more.display());
    served.get(&format!("/process/add_media?{path}")).await;
    let begun = Instant::now();
    let mut full_since = None;
    while full_since.is_none_or(|since: Instant| since.elapsed() < Duration::from_secs(3)) {
        assert!(begun.elapsed() < Duration::from_mins(1), "the disk has not become full");
        let record = served.record().await;
        assert_eq!(record["status_new"], "READ ONLY", "{record}");
        let (status, body) = served.readiness().await;
        if status == 503 {
            assert!(body.contains("The disk is full"), "{body}");
            let is_named =
                record["fatal_error_msg"].as_str().is_some_and(|it| it.contains("is full"));
            assert!(is_named || full_since.is_none(), "{record}");
            full_since.get_or_insert_with(Instant::now);
        }
    }
    filler.set_len(0).unwrap();
    let record = served.until(|record| record["status_new"] == "PARTIAL INDEX").await;
    assert_eq!(record["n_images"].as_u64(), Some(220), "{record}");
    let begun = Instant::now();
    while served.readiness().await.0 != 200 {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is never ready again");
    }
}

#[test]
fn a_command_that_waits_for_a_full_disk_says_so_and_keeps_its_time_limit() {
    let Some(disk) = SmallDisk::mount() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (home, pictures) = (disk.path(), folder.path());
    for number in 0..20 {
        fs::write(pictures.join(format!("{number}.png")), picture(number)).unwrap();
    }
    let filler = fill(home);
    filler.set_len(filler.metadata().unwrap().len() - (600 << 10)).unwrap();
    let report = ["report", pictures.to_str().unwrap(), "--timeout", "10s"];
    let (code, out, err) = run(home, &report);
    assert_eq!((code, out.as_str()), (124, ""), "{err}");
    assert!(err.contains("The disk of the index is full"), "{err}");
}

#[test]
fn a_report_without_free_space_says_so_and_that_nothing_was_started() {
    let Some(disk) = SmallDisk::mount() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.png"), picture(1)).unwrap();
    let (code, out, err) = run(disk.path(), &["report", folder.path().to_str().unwrap(), "--json"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&"disk_full".into(), &false.into()),
        "{err}"
    );
    for part in ["cannot read the metadata of the dataset", "Nothing was started"] {
        assert!(err.contains(part), "{err}");
    }
}

#[tokio::test]
async fn a_download_of_unknown_size_leaves_the_reserve_free() {
    let Some(disk) = SmallDisk::mount() else { return };
    let home = disk.path();
    let id = "ad48d250-0000-11f1-bfca-000000000001";
    let service = ScriptedServer::start(move |request: &ReceivedRequest| match request.path() {
        "/a.zip" => Reply::raw([head(200, &[]), vec![0; 1 << 20]].concat()),
        path if path.ends_with("export_status") => {
            Reply::json(r#"{"status": "COMPLETED", "download_uri": "/a.zip"}"#)
        }
        _ => Reply::json(format!(r#"{{"id": "{id}", "status_new": "READY"}}"#)),
    })
    .await;
    let mut download = tessera(home, &["export", "download", id, "-d", id, "--output", "x.zip"]);
    download.current_dir(home).args(["--base-url", &service.url(), "--kind", "onprem"]);
    let downloaded = tokio::task::spawn_blocking(move || outcome(&mut download));
    let (code, _, err) = downloaded.await.unwrap();
    assert!(code == 1 && err.contains("MiB are needed, with a reserve"), "{code}: {err}");
}
