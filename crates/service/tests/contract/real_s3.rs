//! A real S3 service, `SeaweedFS`, on loopback: it checks signatures, parts and links by its own rules.
//! `tools/seaweedfs.sh` installs it; without it, these tests report that they are skipped.

use std::{
    env,
    io::{BufRead as _, BufReader, Seek as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use reqwest::Client;
use serde_json::json;
use tempfile::TempDir;
use tessera_service::{
    DeploymentSettings,
    object_storage::{BucketFolder, ObjectStorage, ObjectUri, RetryPolicy, StorageSettings},
};

use crate::{
    components::object_storage::read,
    export,
    support::{Place, Service, picture},
};

const KEY_ID: &str = "AKIAEXAMPLE";
const SECRET: &str = "s3cr3t/+=key";

/// A running service with the bucket `photos`. It ends when this is dropped.
struct RealS3 {
    process: Child,
    endpoint: String,
    _data: TempDir,
}

impl Drop for RealS3 {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let named = env::var_os("TESSERA_WEED").map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&paths).map(|folder| folder.join("weed"));
    named.into_iter().chain(on_path).find(|program| program.is_file())
}

/// Ports that were free a moment ago.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

impl RealS3 {
    /// Starts the service; `None` if it is not installed.
    fn start() -> Option<Self> {
        let Some(program) = program() else {
            let note = "SKIPPED: no real S3 service; run tools/seaweedfs.sh and set TESSERA_WEED";
            // Not by a macro, because the output of tests that pass is hidden.
            std::io::stderr().write_all(format!("{note}\n").as_bytes()).unwrap();
            return None;
        };
        let data = tempfile::tempdir().unwrap();
        let names = ["master", "volume", "filer", "s3", "admin"];
        let ports = free_ports::<10>();
        let options = names.iter().zip(ports.chunks(2)).flat_map(|(name, ports)| {
            [format!("-{name}.port={}", ports[0]), format!("-{name}.port.grpc={}", ports[1])]
        });
        let mut process = Command::new(program)
            .arg("mini")
            .arg(format!("-dir={}", data.path().display()))
            .args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false", "-admin.ui=false"])
            .args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-bucket=photos"])
            .args(options)
            .env("AWS_ACCESS_KEY_ID", KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready to use")));
        assert!(ready, "it ended before it was ready");
        // What it prints later must have a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { process, endpoint: format!("http://127.0.0.1:{}", ports[6]), _data: data })
    }

    fn settings(&self, secret: &str) -> StorageSettings {
        let variables = [
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_ENDPOINT_URL_S3", &self.endpoint),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        StorageSettings::from_env(variables).unwrap()
    }

    fn folder(&self) -> BucketFolder {
        let uri = ObjectUri::parse("s3://photos/set").unwrap();
        BucketFolder::new(&self.settings(SECRET), &uri).unwrap()
    }
}

async fn upload(folder: &BucketFolder, name: &str, bytes: &[u8]) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    assert!(folder.upload(name, &mut file, "attachment", |_| true).await.unwrap(), "{name}");
}

#[tokio::test]
async fn objects_are_written_listed_linked_downloaded_and_deleted() {
    let Some(service) = RealS3::start() else { return };
    let folder = service.folder();
    folder.check().await.unwrap();
    // More than one part.
    let large: Vec<u8> = (0..9 << 20).map(|at: u32| u8::try_from(at % 251).unwrap()).collect();
    upload(&folder, "large.png", &large).await;
    upload(&folder, "a b+c&d=\u{e9}%2F~.jpg", b"odd").await;
    upload(&folder, "x?y#z.jpg", b"mark").await;
    let storage =
        ObjectStorage::with_retry_policy(service.settings(SECRET), RetryPolicy::default()).unwrap();
    let listing = storage.list("s3://photos/set/", None, usize::MAX).await.unwrap();
    let mut keys: Vec<&str> = listing.entries.iter().map(|entry| entry.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["set/a b+c&d=\u{e9}%2F~.jpg", "set/large.png", "set/x?y#z.jpg"]);
    for entry in &listing.entries {
        let bytes = read(&storage, entry).await.unwrap();
        assert_eq!(Some(bytes.len() as u64), entry.size);
        assert!(entry.key != "set/large.png" || bytes == large, "the parts are in their order");
    }
    let client = Client::builder().no_proxy().build().unwrap();
    let link = folder.signed_link("x?y#z.jpg").await.unwrap();
    let linked = client.get(link.clone()).send().await.unwrap();
    assert_eq!(linked.headers()["content-disposition"], "attachment");
    assert_eq!(linked.bytes().await.unwrap(), &b"mark"[..]);
    folder.delete("x?y#z.jpg").await.unwrap();
    assert_eq!(client.get(link).send().await.unwrap().status(), 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_of_the_service_is_opened_as_a_dataset() {
    let Some(service) = RealS3::start() else { return };
    let folder = service.folder();
    for n in 0..4 {
        upload(&folder, &format!("day 1/p{n}.png"), &picture(n)).await;
    }
    let place = Place::new(&[]);
    let settings =
        DeploymentSettings { storage: service.settings(SECRET), ..DeploymentSettings::default() };
    let deployment = place.open_with(settings);
    let dataset = deployment.add_folder(Path::new("s3://photos/set"), Some("demo")).unwrap();
    deployment.wait_until_idle().await;
    let served = Service::serve(place, deployment, dataset, true).await;
    let record = served.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(4)));
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = export::archive(&served, query).await;
    assert_eq!(export::content(&mut zip, "images/p2.png"), picture(2));
}

#[tokio::test]
async fn what_is_not_allowed_is_reported() {
    let Some(service) = RealS3::start() else { return };
    let list = async |secret: &str, uri: &str| {
        let settings = service.settings(secret);
        let storage = ObjectStorage::with_retry_policy(settings, RetryPolicy::default()).unwrap();
        storage.list(uri, None, 1).await.unwrap_err()
    };
    let refusal = list("another", "s3://photos/").await;
    assert!(refusal.ends_with("(the access key of this deployment is not accepted)"), "{refusal}");
    let refusal = list(SECRET, "s3://missing/").await;
    assert!(refusal.ends_with("(the bucket does not exist)"), "{refusal}");
    let refusal = list(SECRET, "s3://photos/empty/").await;
    assert!(refusal.ends_with("s3://photos/empty/"), "{refusal}");
}
