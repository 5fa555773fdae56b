//! A small S3 service on loopback: it lists and gives objects to whoever signs right, and can
//! be told to have trouble.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use reqwest::Url;
use rusty_s3::{Method, signing::sign};
use tokio::net::TcpListener;

use crate::storage::{
    Settings, Storage,
    s3::{Patience, S3},
};

/// The key that the service knows.
pub const ID: &str = "AKIAEXAMPLE";
pub const SECRET: &str = "s3cr3t/+=key";
pub const TOKEN: &str = "t0k3n/+=";
pub const REGION: &str = "eu-test-1";

/// What the next answer is instead of the right one.
#[derive(Clone)]
pub enum Trouble {
    /// An error with a description.
    Code(u16, &'static str),
    /// An error with any body.
    Raw(u16, &'static str),
    /// A redirect.
    Redirect(String),
    /// The bucket is in another region.
    Region(&'static str),
    /// No answer comes.
    Silent,
    /// The content breaks off.
    Cut,
    /// The content says that it is longer than anything, and does not come.
    Endless,
}

/// The service.
#[derive(Clone)]
pub struct Shelf {
    address: String,
    objects: Arc<BTreeMap<String, Bytes>>,
    public: bool,
    page: usize,
    troubles: Arc<Mutex<VecDeque<Trouble>>>,
    /// The path of every request.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Shelf {
    /// Serves these objects, named `bucket/key`, to whoever signs.
    pub async fn of(objects: &[(&str, &[u8])]) -> Self {
        Self::serve(objects, false).await
    }

    /// Serves these objects to everybody.
    pub async fn public(objects: &[(&str, &[u8])]) -> Self {
        Self::serve(objects, true).await
    }

    async fn serve(objects: &[(&str, &[u8])], public: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let objects = objects.iter();
        let shelf = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            objects: Arc::new(
                objects
                    .map(|(name, bytes)| ((*name).to_owned(), Bytes::copy_from_slice(bytes)))
                    .collect(),
            ),
            public,
            page: 3,
            troubles: Arc::default(),
            seen: Arc::default(),
        };
        let router = Router::new().fallback(answer).with_state(shelf.clone());
        tokio::spawn(async move { accept(listener, router).await });
        shelf
    }

    /// The next answers go wrong in this order.
    pub fn trouble(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.troubles.lock().unwrap().extend(troubles);
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The settings to reach it, as the environment gives them.
    pub fn settings(&self) -> Settings {
        let vars = [
            ("AWS_ACCESS_KEY_ID", ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_SESSION_TOKEN", TOKEN),
            ("AWS_REGION", REGION),
            ("AWS_ENDPOINT_URL_S3", self.address.as_str()),
        ];
        let var = |name: &str| vars.iter().find(|(known, _)| *known == name);
        Settings::of(|name| var(name).map(|(_, value)| (*value).to_owned())).unwrap()
    }

    /// Storage that reaches it and does not pause long.
    pub fn storage(&self) -> Storage {
        storage(self.settings())
    }

    fn signed(&self, uri: &str) -> bool {
        let given = Url::parse(&format!("{}{uri}", self.address)).unwrap();
        let pairs: Vec<(String, String)> = given
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let value = |wanted: &str| {
            pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        let Some(date) = value("X-Amz-Date") else { return false };
        let own = pairs.iter().filter(|(name, _)| !name.starts_with("X-Amz-"));
        let mut bare = given.clone();
        bare.set_query(None);
        let right = sign(
            &date.parse().unwrap(),
            Method::Get,
            bare,
            ID,
            SECRET,
            Some(TOKEN),
            REGION,
            value("X-Amz-Expires").unwrap().parse().unwrap(),
            own.map(|(name, value)| (name.as_str(), value.as_str())),
            std::iter::empty(),
        );
        given == right
    }
}

/// Storage of these settings that does not pause long.
pub fn storage(settings: Settings) -> Storage {
    waiting(settings, Duration::from_secs(10))
}

/// Storage that waits so long for the next bytes.
pub fn waiting(settings: Settings, idle: Duration) -> Storage {
    let patience = Patience { idle, pause: Duration::from_millis(1) };
    Storage { s3: S3::new(settings, patience).unwrap() }
}

/// As few lines as serve HTTP/1.
async fn accept(listener: TcpListener, router: Router) {
    use hyper_util::{rt::TokioIo, service::TowerToHyperService};
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            // Some are broken on purpose.
            let _ = connection.await;
        });
    }
}

async fn answer(State(shelf): State<Shelf>, request: Request) -> Response {
    let uri = request.uri().to_string();
    shelf.seen.lock().unwrap().push(uri.clone());
    let trouble = shelf.troubles.lock().unwrap().pop_front();
    if let Some(trouble) = trouble {
        return troubled(trouble).await;
    }
    if !shelf.public && !shelf.signed(&uri) {
        return described(403, "SignatureDoesNotMatch");
    }
    let url = Url::parse(&format!("http://x{uri}")).unwrap();
    let path = decoded(url.path().strip_prefix('/').unwrap());
    let (bucket, key) = path.split_once('/').unwrap();
    if !shelf.objects.keys().any(|name| name.starts_with(&format!("{bucket}/"))) {
        return described(404, "NoSuchBucket");
    }
    if key.is_empty() {
        return listed(&shelf, bucket, &url);
    }
    match shelf.objects.get(&path) {
        Some(bytes) => bytes.clone().into_response(),
        None => described(404, "NoSuchKey"),
    }
}

fn listed(shelf: &Shelf, bucket: &str, url: &Url) -> Response {
    let value = |wanted: &str| {
        url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    assert_eq!(value("list-type").as_deref(), Some("2"));
    let prefix = format!("{bucket}/{}", value("prefix").unwrap());
    // A token as hostile to addresses as they come.
    let start = value("continuation-token")
        .map_or(0, |token| token.strip_prefix("from /+=& ").unwrap().parse().unwrap());
    let found: Vec<_> =
        shelf.objects.iter().filter(|(name, _)| name.starts_with(&prefix)).collect();
    let rest = found.len() > start + shelf.page;
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <EncodingType>url</EncodingType>",
    );
    for (name, bytes) in found.iter().skip(start).take(shelf.page) {
        let key = encoded(&name[bucket.len() + 1..]);
        let size = bytes.len();
        write!(xml, "<Contents><Key>{key}</Key><Size>{size}</Size></Contents>").unwrap();
    }
    write!(xml, "<IsTruncated>{rest}</IsTruncated>").unwrap();
    if rest {
        let token = format!("from /+=&amp; {}", start + shelf.page);
        write!(xml, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
    }
    (xml + "</ListBucketResult>").into_response()
}

async fn troubled(trouble: Trouble) -> Response {
    let long = |length: &str, rest: Body| {
        ([(header::CONTENT_LENGTH, length.to_owned())], rest).into_response()
    };
    match trouble {
        Trouble::Code(status, code) => described(status, code),
        Trouble::Raw(status, body) => (StatusCode::from_u16(status).unwrap(), body).into_response(),
        Trouble::Redirect(to) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
        }
        Trouble::Region(region) => {
            (StatusCode::MOVED_PERMANENTLY, [("x-amz-bucket-region", region)]).into_response()
        }
        Trouble::Silent => std::future::pending().await,
        Trouble::Cut => {
            let pieces = [Ok(Bytes::from_static(b"x")), Err(std::io::Error::other("cut"))];
            long("1000", Body::from_stream(stream::iter(pieces)))
        }
        Trouble::Endless => {
            let rest = stream::pending::<std::io::Result<Bytes>>();
            long("999999999999", Body::from_stream(rest))
        }
    }
}

fn described(status: u16, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>c4nary</Message></Error>");
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

/// Every byte as `%XX`.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"))
}

fn decoded(path: &str) -> String {
    let url = format!("http://x/?p={}", path.replace('+', "%2B").replace('&', "%26"));
    Url::parse(&url).unwrap().query_pairs().next().unwrap().1.into_owned()
}
