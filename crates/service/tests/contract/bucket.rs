//! A minimal object storage on loopback that can delay its objects.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use tessera_media::object_storage::StorageSettings;
use tessera_service::DeploymentSettings;
use tokio::{
    net::TcpListener,
    sync::{Mutex as Gate, OwnedMutexGuard},
};

/// The storage.
#[derive(Clone)]
pub struct Bucket {
    endpoint: String,
    objects: Arc<BTreeMap<String, Vec<u8>>>,
    gate: Arc<Gate<()>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Bucket {
    /// Storage with these objects, named `bucket/key`.
    pub async fn of(objects: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bucket = Self {
            endpoint: format!("http://{}", listener.local_addr().unwrap()),
            objects: Arc::new(objects.into_iter().collect()),
            gate: Arc::default(),
            asked: Arc::default(),
        };
        let router = Router::new()
            .route("/{bucket}", get(list))
            .route("/{bucket}/{*key}", get(object))
            .with_state(bucket.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        bucket
    }

    /// Settings that reach it.
    pub fn settings(&self) -> DeploymentSettings {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_ENDPOINT_URL", &self.endpoint),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let storage = StorageSettings::from_env(variables).unwrap();
        DeploymentSettings { storage, ..DeploymentSettings::default() }
    }

    /// Keeps back every object until this is dropped.
    pub async fn keep_back(&self) -> OwnedMutexGuard<()> {
        self.gate.clone().lock_owned().await
    }

    /// The requested paths, with their queries.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Notes a request, which must be signed.
    fn ask(&self, uri: &Uri, headers: &HeaderMap) {
        assert!(headers.contains_key(header::AUTHORIZATION), "{uri}");
        self.asked.lock().unwrap().push(uri.to_string());
    }
}

async fn list(
    State(storage): State<Bucket>,
    Path(bucket): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    storage.ask(&uri, &headers);
    let below = format!("{bucket}/{}", query["prefix"]);
    let mut xml = String::from(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <IsTruncated>false</IsTruncated>",
    );
    for (name, bytes) in storage.objects.iter().filter(|(name, _)| name.starts_with(&below)) {
        let (key, size) = (&name[bucket.len() + 1..], bytes.len());
        write!(
            xml,
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <Size>{size}</Size></Contents>"
        )
        .unwrap();
    }
    (xml + "</ListBucketResult>").into_response()
}

async fn object(
    State(storage): State<Bucket>,
    Path((bucket, key)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    storage.ask(&uri, &headers);
    let _open = storage.gate.lock().await;
    match storage.objects.get(&format!("{bucket}/{key}")) {
        Some(bytes) => bytes.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
