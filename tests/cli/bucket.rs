//! Tests a local profile whose folder is in object storage, and uploads that are stored there.

use std::{collections::BTreeSet, fs, io::Write as _, path::Path};

use reqwest::{
    Method,
    multipart::{Form, Part},
};
use serde_json::Value;
use tempfile::TempDir;
use tessera_testing::{
    scripted::{ReceivedRequest, Reply, ScriptedServer},
    seaweedfs::{self, SeaweedFs},
};
use tokio::runtime::Runtime;

use super::{
    Serving, add_local_profile,
    kill::random,
    outcome, picture,
    served_folder::{self, BATCH, PATIENCE, PICTURES, ServedFolder, batch},
    started, tessera,
};

/// The number of kills, unless `TESSERA_KILL_RUNS` gives another one.
const RUNS: u32 = 6;

const SECRET: &str = "s3cr3t-key-of-the-bucket";

/// Starts a bucket with one picture, which accepts signed requests.
fn bucket(runtime: &Runtime, home: &TempDir) -> ScriptedServer {
    let file = home.path().join("a.png");
    picture(&file);
    let bytes = fs::read(file).unwrap();
    let page = format!(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <IsTruncated>false</IsTruncated><Contents><Key>set/a.png</Key>\
         <LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>\
         </ListBucketResult>",
        bytes.len()
    );
    runtime.block_on(ScriptedServer::start(move |request: &ReceivedRequest| {
        match request.header("authorization") {
            None => Reply::new(403, &[], "<Error><Code>AccessDenied</Code></Error>"),
            Some(_) if request.path() == "/photos/set/a.png" => Reply::new(200, &[], &bytes),
            Some(_) => Reply::new(200, &[], &page),
        }
    }))
}

#[test]
fn a_local_profile_of_a_bucket_uses_the_credentials_of_the_environment() {
    let (runtime, home) = (Runtime::new().unwrap(), tempfile::tempdir().unwrap());
    let server = bucket(&runtime, &home);
    add_local_profile(home.path(), "b", "s3://photos/set");
    let list = ["--profile", "b", "dataset", "list"];
    let mut doctor = tessera(home.path(), &["doctor", "--json"]);
    let mut listed = tessera(home.path(), &list);
    for command in [&mut doctor, &mut listed] {
        command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", SECRET);
        command.env("AWS_ENDPOINT_URL", server.url());
    }
    let (_, out, err) = outcome(&mut doctor);
    assert!(out.contains("s3://photos/set"), "{out}{err}");
    let (code, out, err) = outcome(&mut listed);
    assert!(code == 0 && out.contains("set"), "{out}{err}");
    let mut unsigned = tessera(home.path(), &list);
    unsigned.env("AWS_ENDPOINT_URL", server.url()).env("AWS_SKIP_SIGNATURE", "true");
    let (code, _, err) = outcome(&mut unsigned);
    assert!(code != 0 && err.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), "{err}");
    for entry in walkdir::WalkDir::new(home.path()) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = fs::read(entry.path()).unwrap();
            let stored = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
            assert!(!stored, "{}", entry.path().display());
        }
    }
}

#[test]
fn doctor_names_interrupted_uploads_of_a_bucket() {
    const ID: &str = "7b7d7a5e-54a5-4d0c-9c4c-0f1d6a8f3b11";
    let (runtime, home) = (Runtime::new().unwrap(), tempfile::tempdir().unwrap());
    let page = |prefix: &str| match prefix {
        "tessera/begun-uploads/" => format!(
            "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>{prefix}{ID}</Key>\
             <LastModified>2020-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>\
             </ListBucketResult>"
        ),
        "tessera/exports/" => format!(
            "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload>\
             <Key>{prefix}{ID}.zip</Key><UploadId>1</UploadId>\
             <Initiated>2020-01-01T00:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>"
        ),
        _ => "<ListMultipartUploadsResult></ListMultipartUploadsResult>".to_owned(),
    };
    let server = runtime.block_on(ScriptedServer::start(move |request: &ReceivedRequest| {
        let url = reqwest::Url::parse(&format!("http://x{}", request.target)).unwrap();
        let prefix = url.query_pairs().find(|(name, _)| name == "prefix");
        match (request.method.as_str(), prefix) {
            ("GET", Some((_, prefix))) => Reply::new(200, &[], page(&prefix)),
            ("DELETE", _) => Reply::new(204, &[], ""),
            _ => Reply::new(200, &[("etag", "\"1\"")], ""),
        }
    }));
    let mut doctor = tessera(home.path(), &["doctor"]);
    // A variable that was read from a file ends with a line break.
    doctor.env("TESSERA_BUCKET", "s3://photos/tessera\n");
    doctor.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", SECRET);
    let (_, out, err) = outcome(doctor.env("AWS_ENDPOINT_URL", server.url()));
    let names = format!(
        "2 interrupted uploads in the bucket: uploads/{ID}, exports/{ID}.zip; the next \
         start of `tessera serve` or `tessera work` removes them"
    );
    assert!(out.contains(&names), "{out}{err}");
}

/// Creates an archive with the same pictures as `batch`.
fn archive(round: u32) -> Form {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for n in 0..BATCH {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("r{round}_{n:03}.png"), options).unwrap();
        zip.write_all(&served_folder::picture(1_000 * (round + 1) + n)).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    Form::new().part("archive", Part::bytes(bytes).file_name("batch.zip"))
}

/// Serves the pictures, with uploads in the bucket.
fn start(bucket: &SeaweedFs, home: &Path) -> Serving {
    let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
    let (pictures, data) = (path("pictures"), path("data"));
    let options = ["serve", &pictures, "--data", &data, "--bucket", "s3://photos/tessera"];
    let mut command = tessera(home, &options);
    command.envs(bucket.variables(seaweedfs::SECRET));
    started(command)
}

/// An upload without a response is there either as a whole or not at all, and an accepted upload is
/// always there.
#[tokio::test]
async fn uploads_in_a_bucket_survive_kills_at_any_moment() {
    let Some(bucket) = SeaweedFs::start() else { return };
    let runs = std::env::var("TESSERA_KILL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut served = ServedFolder::started_by(|home| start(&bucket, home)).await;
    let mut expected: BTreeSet<String> = (0..PICTURES).map(|n| format!("p{n:03}.png")).collect();
    for run in 0..runs {
        let form = if run % 2 == 0 { batch(run) } else { archive(run) };
        let path = format!("/dataset/{}/add_media", served.dataset());
        let request = served.request(Method::POST, &path).multipart(form);
        let sent = tokio::spawn(request.timeout(PATIENCE).send());
        for _ in 0..random(u64::from(run), 2, 40) {
            served.record().await;
        }
        served.kill_and_start(|home| start(&bucket, home));
        let is_accepted = sent.await.unwrap().is_ok_and(|response| response.status() == 202);
        let is_idle = |record: &Value| {
            ["READY", "PARTIAL INDEX"].iter().any(|status| record["status_new"] == *status)
        };
        let record = served.until(is_idle).await;
        let (known, found) = (expected.len(), &record["n_images"]);
        let is_there = *found == known + BATCH as usize;
        assert!(
            is_there || (!is_accepted && *found == known),
            "run {run}, accepted: {is_accepted}, {known} known: {record}"
        );
        if is_there {
            expected.extend((0..BATCH).map(|n| format!("r{run}_{n:03}.png")));
        }
        if record["status_new"] == "PARTIAL INDEX" {
            served.post("reindex", None).await;
        }
        served.until(|record| record["status_new"] == "READY").await;
        assert_eq!(served.names().await, expected, "run {run}");
        assert_eq!(served.thumbnails().await, expected.len(), "run {run}");
    }
    assert_eq!(fs::read_dir(served.uploads()).unwrap().count(), 0, "nothing stays on disk");
}
