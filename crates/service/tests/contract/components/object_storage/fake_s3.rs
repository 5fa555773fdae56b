//! A fake S3 service on loopback that checks signatures, lists and serves objects, and fails on
//! request. Objects can be written, in parts, too.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use futures_util::{StreamExt as _, stream};
use reqwest::Url;
use tessera_media::object_storage::{ObjectStorage, RetryPolicy, StorageSettings};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Handle},
    sync::Semaphore,
};

use super::{fake_uploads::Uploads, signature::is_signed};

/// The only valid access key.
pub const KEY_ID: &str = "AKIAEXAMPLE";
pub const SECRET: &str = "s3cr3t/+=key";
pub const TOKEN: &str = "t0k3n/+=";
pub const REGION: &str = "eu-test-1";

/// A failure to respond with.
#[derive(Clone)]
pub enum FakeFailure {
    /// An S3 error document.
    S3Error(u16, &'static str),
    /// An error with any body.
    RawError(u16, &'static str),
    /// A redirect to this address.
    Redirect(String),
    Region(&'static str),
    /// No failure.
    None,
    /// No failure, but the response waits for a permit.
    Held(Arc<Semaphore>),
    /// The request is served, but its response is lost.
    LostResponse,
    /// No response at all.
    NoResponse,
    /// The connection breaks in the middle of the body.
    Truncated,
    /// The same, and the object has other bytes from then on.
    Replaced(&'static [u8]),
}

#[derive(Clone)]
pub struct FakeS3 {
    address: String,
    pub(super) objects: Arc<Mutex<BTreeMap<String, Bytes>>>,
    pub(super) uploads: Uploads,
    public: bool,
    pub(super) page: usize,
    failures: Arc<Mutex<VecDeque<FakeFailure>>>,
    /// The failures of single objects.
    failing: Arc<Mutex<BTreeMap<String, FakeFailure>>>,
    request_paths: Arc<Mutex<Vec<String>>>,
    ranges: Arc<Mutex<Vec<String>>>,
    denies_deletions: Arc<AtomicBool>,
    denies_objects: Arc<AtomicBool>,
    /// When all objects were changed.
    pub(super) modified: Arc<Mutex<&'static str>>,
}

impl FakeS3 {
    /// Serves these objects, named `bucket/key`, to signed requests.
    pub async fn with_objects(objects: &[(&str, &[u8])]) -> Self {
        Self::start(objects, false).await
    }

    /// Serves these objects to unsigned requests too.
    pub async fn public_bucket(objects: &[(&str, &[u8])]) -> Self {
        Self::start(objects, true).await
    }

    async fn start(objects: &[(&str, &[u8])], public: bool) -> Self {
        let runtime = background_runtime();
        let listener = runtime.spawn(TcpListener::bind("127.0.0.1:0")).await.unwrap().unwrap();
        let objects = objects.iter();
        let server = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            objects: Arc::new(Mutex::new(
                objects
                    .map(|(name, bytes)| ((*name).to_owned(), Bytes::copy_from_slice(bytes)))
                    .collect(),
            )),
            uploads: Uploads::default(),
            public,
            page: 3,
            failures: Arc::default(),
            failing: Arc::default(),
            request_paths: Arc::default(),
            ranges: Arc::default(),
            denies_deletions: Arc::default(),
            denies_objects: Arc::default(),
            modified: Arc::new(Mutex::new("2026-01-01T00:00:00.000Z")),
        };
        let router = Router::new().fallback(respond).with_state(server.clone());
        runtime.spawn(async move { serve_connections(listener, router).await });
        server
    }

    /// Makes the next responses fail, in this order.
    pub fn fail_next(&self, troubles: impl IntoIterator<Item = FakeFailure>) {
        self.failures.lock().unwrap().extend(troubles);
    }

    /// Whether objects may be written but not deleted, from now on.
    pub fn deny_deletions(&self, denied: bool) {
        self.denies_deletions.store(denied, Ordering::SeqCst);
    }

    /// Whether objects may be deleted but not written, from now on.
    pub fn deny_objects(&self, denied: bool) {
        self.denies_objects.store(denied, Ordering::SeqCst);
    }

    /// Makes all responses for `bucket/key` fail.
    pub fn fail_object(&self, name: &str, failure: FakeFailure) {
        self.failing.lock().unwrap().insert(name.to_owned(), failure);
    }

    /// Ends all failures.
    pub fn recover(&self) {
        self.failures.lock().unwrap().clear();
        self.failing.lock().unwrap().clear();
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        let bytes = Bytes::copy_from_slice(bytes);
        self.objects.lock().unwrap().insert(name.to_owned(), bytes);
    }

    pub fn remove(&self, name: &str) {
        self.objects.lock().unwrap().remove(name).unwrap();
    }

    /// The names of all objects, as `bucket/key`.
    pub fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    /// Begins an upload of `bucket/key` in parts, as a process would that is killed then.
    pub fn begin_upload(&self, name: &str) {
        self.uploads.begin(name);
    }

    /// Number of uploads that are neither complete nor aborted.
    pub fn open_uploads(&self) -> usize {
        self.uploads.count()
    }

    pub fn request_count(&self) -> usize {
        self.request_paths.lock().unwrap().len()
    }

    /// Changes when all objects were changed.
    pub fn set_modified(&self, time: &'static str) {
        *self.modified.lock().unwrap() = time;
    }

    /// The bytes of an object.
    pub fn object(&self, name: &str) -> Bytes {
        self.objects.lock().unwrap()[name].clone()
    }

    /// The ranges of bytes that were requested.
    pub fn ranges(&self) -> Vec<String> {
        self.ranges.lock().unwrap().clone()
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Settings to reach it, read like the environment; `changes` replaces variables.
    pub fn settings_with(&self, changes: &[(&str, &str)]) -> StorageSettings {
        let variables = [
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_SESSION_TOKEN", TOKEN),
            ("AWS_REGION", REGION),
            ("AWS_ENDPOINT_URL_S3", self.address.as_str()),
        ];
        let all = variables.iter().chain(changes);
        let all: BTreeMap<String, String> =
            all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        StorageSettings::from_env(all).unwrap()
    }

    pub fn settings(&self) -> StorageSettings {
        self.settings_with(&[])
    }

    /// Settings without a key.
    pub fn public_settings(&self) -> StorageSettings {
        let none = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
        self.settings_with(&[none[0], none[1], ("AWS_SKIP_SIGNATURE", "true")])
    }

    /// A client for it with short delays.
    pub fn storage(&self) -> ObjectStorage {
        storage(self.settings())
    }
}

/// A client with short delays.
pub fn storage(settings: StorageSettings) -> ObjectStorage {
    storage_with_timeout(settings, Duration::from_secs(10))
}

/// A client with this read timeout.
pub fn storage_with_timeout(settings: StorageSettings, idle: Duration) -> ObjectStorage {
    let policy = RetryPolicy { read_timeout: idle, initial_backoff: Duration::from_millis(1) };
    ObjectStorage::with_retry_policy(settings, policy).unwrap()
}

/// A runtime on a thread of its own, because opening a deployment waits for the service.
fn background_runtime() -> Handle {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}

/// A minimal HTTP/1 server.
async fn serve_connections(listener: TcpListener, router: Router) {
    use hyper_util::{rt::TokioIo, service::TowerToHyperService};
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // Some connections are broken on purpose.
            let _ = connection.await;
        });
    }
}

async fn respond(State(server): State<FakeS3>, request: Request) -> Response {
    let (request, body) = request.into_parts();
    let uri = request.uri.to_string();
    server.request_paths.lock().unwrap().push(uri.clone());
    let of_object = || {
        let name = percent_decode(request.uri.path().trim_start_matches('/'));
        server.failing.lock().unwrap().get(&name).cloned()
    };
    let next = server.failures.lock().unwrap().pop_front();
    let failure = next.or_else(of_object).unwrap_or(FakeFailure::None);
    match failure {
        FakeFailure::None => serve(&server, &request, body).await,
        FakeFailure::LostResponse => {
            serve(&server, &request, body).await;
            error_response(500, "InternalError")
        }
        FakeFailure::Held(gate) => {
            gate.acquire().await.unwrap().forget();
            serve(&server, &request, body).await
        }
        FakeFailure::Truncated => truncated(serve(&server, &request, body).await).await,
        FakeFailure::Replaced(bytes) => {
            let response = truncated(serve(&server, &request, body).await).await;
            server.put(&percent_decode(request.uri.path().trim_start_matches('/')), bytes);
            response
        }
        failure => failure_response(failure).await,
    }
}

/// Announces the whole body, and breaks off in its middle.
async fn truncated(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    head.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
    let half = bytes.slice(..bytes.len() / 2);
    let cut = async {
        // The connection sends what it has whenever it waits for more.
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
        Err(std::io::Error::other("cut"))
    };
    let pieces = stream::once(async { Ok(half) }).chain(stream::once(cut));
    Response::from_parts(head, Body::from_stream(pieces))
}

async fn serve(server: &FakeS3, request: &Parts, body: Body) -> Response {
    if !server.public && !is_signed(request, (KEY_ID, SECRET), TOKEN, REGION) {
        return error_response(403, "SignatureDoesNotMatch");
    }
    let url = Url::parse(&format!("http://x{}", request.uri)).unwrap();
    let path = percent_decode(url.path().strip_prefix('/').unwrap());
    let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
    let is_there = |name: &String| name.starts_with(&format!("{bucket}/"));
    if !server.objects.lock().unwrap().keys().any(is_there) {
        return error_response(404, "NoSuchBucket");
    }
    if key.is_empty() {
        return list_response(server, bucket, &url);
    }
    if request.method == Method::DELETE && server.denies_deletions.load(Ordering::SeqCst) {
        return error_response(403, "AccessDenied");
    }
    if request.method == Method::PUT && server.denies_objects.load(Ordering::SeqCst) {
        return error_response(403, "AccessDenied");
    }
    if request.method != Method::GET && request.method != Method::HEAD {
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let mut objects = server.objects.lock().unwrap();
        let written = server.uploads.write(&mut objects, request, &path, &url, body);
        return written.unwrap_or_else(|| error_response(404, "NoSuchUpload"));
    }
    match server.objects.lock().unwrap().get(&path) {
        Some(bytes) => object_response(server, request, &path, bytes),
        None => error_response(404, "NoSuchKey"),
    }
}

/// The object, or a range of its bytes, unless the request is for another version.
fn object_response(server: &FakeS3, request: &Parts, path: &str, bytes: &Bytes) -> Response {
    let header = |name| request.headers.get(name).map(|value| value.to_str().unwrap());
    let tag = format!("\"{}\"", blake3::hash(bytes).to_hex());
    if header(header::IF_MATCH).is_some_and(|wanted| wanted != tag) {
        return error_response(412, "PreconditionFailed");
    }
    let attributes = (server.uploads.attributes(path), [(header::ETAG, tag)]);
    let Some(range) = header(header::RANGE) else {
        return (attributes, bytes.clone()).into_response();
    };
    server.ranges.lock().unwrap().push(range.to_owned());
    let (start, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let start: usize = start.parse().unwrap();
    if start >= bytes.len() {
        return error_response(416, "InvalidRange");
    }
    let end = last.parse().map_or(bytes.len(), |last: usize| bytes.len().min(last + 1));
    let part = format!("bytes {start}-{}/{}", end - 1, bytes.len());
    let part = [(header::CONTENT_RANGE, part)];
    (StatusCode::PARTIAL_CONTENT, attributes, part, bytes.slice(start..end)).into_response()
}

async fn failure_response(trouble: FakeFailure) -> Response {
    match trouble {
        FakeFailure::S3Error(status, code) => error_response(status, code),
        FakeFailure::RawError(status, body) => {
            (StatusCode::from_u16(status).unwrap(), body).into_response()
        }
        FakeFailure::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
        }
        FakeFailure::Region(region) => {
            (StatusCode::MOVED_PERMANENTLY, [("x-amz-bucket-region", region)]).into_response()
        }
        FakeFailure::None
        | FakeFailure::Held(_)
        | FakeFailure::LostResponse
        | FakeFailure::Truncated
        | FakeFailure::Replaced(_) => StatusCode::OK.into_response(),
        FakeFailure::NoResponse => std::future::pending().await,
    }
}

fn error_response(status: u16, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>c4nary</Message></Error>");
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

pub fn percent_decode(path: &str) -> String {
    let url = format!("http://x/?p={}", path.replace('+', "%2B").replace('&', "%26"));
    Url::parse(&url).unwrap().query_pairs().next().unwrap().1.into_owned()
}

/// The response to a listing.
fn list_response(server: &FakeS3, bucket: &str, url: &Url) -> Response {
    let value = |wanted: &str| {
        url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    if value("uploads").is_some() {
        let (prefix, after) = (value("prefix").unwrap(), value("key-marker").unwrap_or_default());
        return server.uploads.list(bucket, &prefix, &after, &server.modified.lock().unwrap());
    }
    assert_eq!(value("list-type").as_deref(), Some("2"));
    let prefix = format!("{bucket}/{}", value("prefix").unwrap());
    // A token with characters that need escaping.
    let start = value("continuation-token")
        .map_or(0, |token| token.strip_prefix("from /+=& ").unwrap().parse().unwrap());
    let objects = server.objects.lock().unwrap();
    let delimiter = value("delimiter");
    // The common prefix of a name, or its object.
    let mut found: Vec<(&str, Option<&Bytes>)> = Vec::new();
    for (name, bytes) in objects.iter().filter(|(name, _)| name.starts_with(&prefix)) {
        let below = delimiter.as_deref().and_then(|it| name[prefix.len()..].find(it));
        match below {
            None => found.push((name, Some(bytes))),
            Some(at) => found.push((&name[..=prefix.len() + at], None)),
        }
    }
    found.dedup();
    let modified = *server.modified.lock().unwrap();
    let rest = found.len() > start + server.page;
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">",
    );
    for (name, bytes) in found.iter().skip(start).take(server.page) {
        let key = xml_escape(&name[bucket.len() + 1..]);
        let Some(bytes) = bytes else {
            write!(xml, "<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>").unwrap();
            continue;
        };
        let size = bytes.len();
        let tag = blake3::hash(bytes).to_hex();
        write!(
            xml,
            "<Contents><Key>{key}</Key><LastModified>{modified}</LastModified>\
             <ETag>&quot;{tag}&quot;</ETag><Size>{size}</Size></Contents>"
        )
        .unwrap();
    }
    write!(xml, "<IsTruncated>{rest}</IsTruncated>").unwrap();
    if rest {
        let token = format!("from /+=&amp; {}", start + server.page);
        write!(xml, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
    }
    (xml + "</ListBucketResult>").into_response()
}

/// Escapes like the XML library of Go, which many services use.
fn xml_escape(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '"' | '\t' | '\n' => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}
