//! Fuzzes object storage: listings, errors and manifests of a hostile service.

use std::sync::{Arc, Mutex, PoisonError};

use tessera_media::object_storage::{
    ObjectEntry, ObjectListing, ObjectStorage, ObjectUri, PathRoot, RetryPolicy, StorageSettings,
};
use tessera_testing::scripted::{Reply, ScriptedServer};
use tokio::runtime::Runtime;

use super::{fuzz, mutation::mutated, parquet_files::parquet_files};

const TOKENS: [&str; 10] = [
    "<Key>",
    "</Key>",
    "<Contents>",
    "<IsTruncated>true</IsTruncated>",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&#0;",
    "%2e%2e%2f",
    "../",
    "\u{0}",
    "<Size>99999999999999999999</Size>",
];

const LAST_PAGE: &str = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
    <IsTruncated>false</IsTruncated></ListBucketResult>";

fn listings() -> Vec<Vec<u8>> {
    let object = |key: &str| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>&quot;e&quot;</ETag><Size>7</Size><StorageClass>STANDARD</StorageClass></Contents>"
        )
    };
    let objects: String = ["p/a.jpg", "p/b%20c.png", "p/metadata.jsonl", "p/"].map(object).concat();
    let page = LAST_PAGE.replace("<IsTruncated>false", &format!("{objects}<IsTruncated>false"));
    let next = "<NextContinuationToken>1ueGcx</NextContinuationToken><IsTruncated>true";
    let error =
        "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>";
    [page.replace("<IsTruncated>false", next), page, error.to_owned()]
        .map(String::into_bytes)
        .to_vec()
}

/// A storage service that sends a given body, and ends every listing after its first page.
struct HostileStorage {
    body: Arc<Mutex<(u16, Vec<u8>)>>,
    storage: ObjectStorage,
    _server: ScriptedServer,
}

impl HostileStorage {
    async fn start() -> Self {
        let body = Arc::new(Mutex::new((200, Vec::new())));
        let sent = Arc::clone(&body);
        let server = ScriptedServer::start(move |request| {
            if request.target.contains("continuation-token=") {
                return Reply::new(200, &[], LAST_PAGE);
            }
            let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            Reply::new(sent.0, &[], &sent.1)
        })
        .await;
        let variables = [
            ("AWS_ACCESS_KEY_ID", "id".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_ENDPOINT_URL", server.url()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        let settings = StorageSettings::from_env(variables).expect("settings");
        let storage = ObjectStorage::with_retry_policy(settings, RetryPolicy::default());
        Self { body, storage: storage.expect("a client"), _server: server }
    }

    async fn list(&self, status: u16, uri: &str, body: &[u8]) -> Option<ObjectListing> {
        *self.body.lock().unwrap_or_else(PoisonError::into_inner) = (status, body.to_vec());
        match self.storage.list(uri, None, 1_000).await {
            Ok(listing) => Some(listing),
            Err(error) => {
                let message = error.to_string();
                assert!(!message.chars().any(char::is_control), "{message:?}");
                assert!(!message.contains("Signature"), "{message}");
                None
            }
        }
    }
}

/// Asserts that each listed object is in the folder or has its whole address as its path, and that no two objects have
/// the same path.
fn assert_addressed(listing: &ObjectListing, location: &str, folder: &str) {
    let location = ObjectUri::parse(location).expect("an address");
    for entry in &listing.entries {
        let found = ObjectEntry::at_path(&location, &entry.path()).expect("an object");
        assert_eq!((&found.bucket, &found.key), (&entry.bucket, &entry.key));
        if entry.path_root != PathRoot::Bucket {
            assert!(entry.key.starts_with(folder), "{entry:?}");
        }
    }
}

#[test]
fn damaged_listings_are_read_or_refused() {
    let runtime = Runtime::new().expect("a runtime");
    let storage = runtime.block_on(HostileStorage::start());
    fuzz(300, &mutated(listings(), &TOKENS), |input| {
        for status in [200, 403] {
            let listing = runtime.block_on(storage.list(status, "s3://photos/p/", &input.0));
            if let Some(listing) = listing {
                assert_addressed(&listing, "s3://photos/p/", "p/");
            }
        }
    });
}

#[test]
fn damaged_manifests_are_read_or_refused() {
    let runtime = Runtime::new().expect("a runtime");
    let storage = runtime.block_on(HostileStorage::start());
    let text: &[u8] =
        b"uri,label\ns3://photos/p/a.jpg,van\n./b.png,\"bus, red\"\ns3://other/c.jpg,\n";
    let tables = vec![text.to_vec()];
    for (extension, files) in
        [("csv", tables.clone()), ("txt", tables), ("parquet", parquet_files())]
    {
        let uri = format!("s3://photos/p/list.{extension}");
        fuzz(200, &mutated(files, &["s3://", "../", "\"", "\n", "PAR1", "\u{0}"]), |input| {
            if let Some(listing) = runtime.block_on(storage.list(200, &uri, &input.0)) {
                assert_addressed(&listing, &uri, "p/");
            }
        });
    }
}
