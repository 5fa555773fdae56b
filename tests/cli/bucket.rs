//! A local profile whose folder is in object storage.

use std::fs;

use tempfile::TempDir;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};
use tokio::runtime::Runtime;

use super::{outcome, picture, run, tessera};

const SECRET: &str = "s3cr3t-key-of-the-bucket";

/// A bucket with one picture, for signed requests.
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
    let add = ["profile", "add", "b", "--kind", "local", "--folder", "s3://photos/set"];
    let (code, _, err) = run(home.path(), &add);
    assert_eq!(code, 0, "{err}");
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
