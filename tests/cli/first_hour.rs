//! Replays the commands of the first hour in docs/several-machines.md, if `TESSERA_TEST_STORE` names a server.

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;
use tessera_testing::{
    scripted::{ReceivedRequest, Reply, ScriptedServer},
    server_schema::ServerSchema,
};

use super::{
    Serving, documented::replay_section, outcome, served_folder::picture, started, tessera,
};
use crate::test_store;

/// Starts a bucket `team` with a folder of twelve pictures and a folder of four more.
async fn bucket() -> ScriptedServer {
    let objects = |folder: &'static str, numbers: std::ops::Range<u32>| {
        numbers.map(move |n| (format!("{folder}/p{n:02}.png"), picture(n)))
    };
    let objects: BTreeMap<String, Vec<u8>> =
        objects("photos", 0..12).chain(objects("more", 12..16)).collect();
    ScriptedServer::start(move |request: &ReceivedRequest| {
        let key = request.path().trim_start_matches("/team").trim_start_matches('/');
        match objects.get(key) {
            Some(bytes) => Reply::new(200, &[], bytes),
            None if key.is_empty() => Reply::new(200, &[], listing(&objects, &request.target)),
            None => Reply::new(404, &[], "<Error><Code>NoSuchKey</Code></Error>"),
        }
    })
    .await
}

fn listing(objects: &BTreeMap<String, Vec<u8>>, target: &str) -> String {
    let folder = if target.contains("prefix=more") { "more/" } else { "photos/" };
    let entries = objects.iter().filter(|(key, _)| key.starts_with(folder)).map(|(key, bytes)| {
        let size = bytes.len();
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <Size>{size}</Size></Contents>"
        )
    });
    format!(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <IsTruncated>false</IsTruncated>{}</ListBucketResult>",
        entries.collect::<String>()
    )
}

/// A process that ends with the test.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The state that the commands share. The processes end before the store is removed.
struct Terminal {
    services: Vec<Serving>,
    workers: Vec<Background>,
    /// The addresses in the document, each with the address of this run.
    addresses: Vec<(String, String)>,
    variables: BTreeMap<String, String>,
    home: TempDir,
    schema: ServerSchema,
    bucket: ScriptedServer,
}

impl Terminal {
    /// Runs a command line. Returns its output, unless it runs in the background.
    fn run(&mut self, line: &str) -> String {
        if let Some(assignments) = line.strip_prefix("export ") {
            for (name, value) in assignments.split(' ').filter_map(|word| word.split_once('=')) {
                self.variables.insert(name.to_owned(), self.of_this_run(value));
            }
            return String::new();
        }
        if let Some(line) = line.strip_suffix(" &") {
            self.start(line);
            return String::new();
        }
        let (code, out, err) = outcome(&mut self.command(line));
        assert_eq!(code, 0, "{line}: {err}");
        out
    }

    fn start(&mut self, line: &str) {
        let mut command = self.command(line);
        if !line.starts_with("tessera serve ") {
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            return self.workers.push(Background(child));
        }
        let serving = started(command);
        let words: Vec<&str> = line.split(' ').collect();
        let listen = words.iter().position(|word| *word == "--listen").unwrap();
        let address = serving.1["base_url"].as_str().unwrap().to_owned();
        self.addresses.push((format!("http://{}", words[listen + 1]), address));
        self.services.push(serving);
    }

    fn command(&self, line: &str) -> Command {
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("tessera"));
        let arguments: Vec<&str> = words
            .map(|word| if word.starts_with("127.0.0.1:") { "127.0.0.1:0" } else { word })
            .collect();
        let mut command = tessera(self.home.path(), &arguments);
        command.current_dir(self.home.path()).envs(&self.variables);
        command.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "secret-of-team");
        command.env("AWS_ENDPOINT_URL", self.bucket.url());
        command
    }

    fn of_this_run(&self, value: &str) -> String {
        if value.starts_with("postgres://") {
            return self.schema.address();
        }
        let known = self.addresses.iter().find(|(documented, _)| documented == value);
        known.map_or_else(|| value.to_owned(), |(_, address)| address.clone())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_first_hour_prints_the_same() {
    let Some(schema) = test_store::schema() else { return };
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("boat.png"), picture(3)).unwrap();
    let mut terminal = Terminal {
        services: Vec::new(),
        workers: Vec::new(),
        addresses: Vec::new(),
        variables: BTreeMap::new(),
        home,
        schema,
        bucket: bucket().await,
    };
    tokio::task::block_in_place(|| {
        replay_section("several-machines.md", "## The first hour\n", |line| terminal.run(line));
    });
}
