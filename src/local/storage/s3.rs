//! Requests to object storage: signed by the library, sent by a client of our own, sent again
//! for a while when the service has trouble.

use std::{fmt, io, time::Duration};

use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rusty_s3::{
    Bucket, S3Action as _, UrlStyle,
    actions::{ListObjectsV2, list_objects_v2::ListObjectsV2Response},
};
use tokio::time::sleep;

use super::settings::Settings;

/// Time to connect, and longest wait for the next bytes.
const CONNECT: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(30);
/// How often a request is sent, and the pause after the first, which then doubles.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(250);
/// How long a signature is good.
const SIGNED: Duration = Duration::from_secs(900);
/// Largest page of a listing, and largest description of an error, in bytes.
const PAGE: usize = 16 << 20;
const DESCRIPTION: usize = 64 << 10;

/// Why something cannot be had; the words are fit for the wire, without addresses and secrets.
#[derive(Debug)]
pub enum Fault {
    /// This object; others may do.
    Object(String),
    /// Anything.
    Storage(String),
    /// The disk does not take it.
    Disk(io::Error),
}

/// How an attempt failed.
#[derive(Debug)]
pub enum Setback {
    /// The next may do better.
    Again(Fault),
    /// The next would fail as well.
    Final(Fault),
}

/// Object storage.
#[derive(Clone, Debug)]
pub struct S3 {
    client: Client,
    settings: Settings,
    pause: Duration,
}

impl S3 {
    /// Reaches storage as the settings say.
    pub fn new(settings: Settings) -> Result<Self, Fault> {
        let builder = Client::builder()
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(IDLE)
            .tcp_nodelay(true)
            .referer(false)
            // What is stored compressed is wanted as it is stored.
            .no_gzip()
            // A signature is for one host.
            .redirect(redirect::Policy::none())
            .retry(retry::never());
        let loopback = settings.endpoint.as_ref().is_some_and(is_loopback);
        let builder = if loopback { builder.no_proxy() } else { builder };
        let client = builder
            .build()
            .map_err(|_| Fault::Storage("the client for object storage cannot start".to_owned()))?;
        Ok(Self { client, settings, pause: PAUSE })
    }

    /// The same with a shorter first pause, for tests.
    #[cfg(test)]
    pub fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// One page of the keys that begin with `prefix`.
    pub async fn page(
        &self,
        bucket: &str,
        prefix: &str,
        token: Option<&str>,
    ) -> Result<ListObjectsV2Response, Fault> {
        let bucket = &self.bucket(bucket)?;
        self.retried(|| self.try_page(bucket, prefix, token)).await
    }

    async fn try_page(
        &self,
        bucket: &Bucket,
        prefix: &str,
        token: Option<&str>,
    ) -> Result<ListObjectsV2Response, Setback> {
        let credentials = self.settings.credentials();
        let mut list = bucket.list_objects_v2(credentials.as_ref());
        list.with_prefix(prefix);
        if let Some(token) = token {
            list.with_continuation_token(token);
        }
        let answer = self.send(list.sign(SIGNED)).await?;
        let text = text(answer, PAGE).await?;
        ListObjectsV2::parse_response(&text).map_err(|_| {
            Setback::Final(Fault::Storage("what answers is no object storage".to_owned()))
        })
    }

    /// Sends a request for an object; a good answer, with its content still to come.
    pub async fn object(&self, bucket: &str, key: &str) -> Result<Response, Setback> {
        let bucket = self.bucket(bucket).map_err(Setback::Final)?;
        let credentials = self.settings.credentials();
        self.send(bucket.get_object(credentials.as_ref(), key).sign(SIGNED)).await
    }

    /// Repeats an attempt while it makes sense, with growing pauses.
    pub async fn retried<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Setback>>,
    {
        let mut failed = 0;
        loop {
            match attempt().await {
                Ok(answer) => return Ok(answer),
                Err(Setback::Final(fault)) => return Err(fault),
                Err(Setback::Again(fault)) => {
                    failed += 1;
                    if failed == ATTEMPTS {
                        return Err(fault);
                    }
                    sleep(self.pause * (1 << (failed - 1))).await;
                }
            }
        }
    }

    async fn send(&self, url: Url) -> Result<Response, Setback> {
        let answer = self.client.get(url).send().await.map_err(|cause| lost(&cause))?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refused(answer).await) }
    }

    async fn refused(&self, answer: Response) -> Setback {
        let status = answer.status();
        let region = answer.headers().get("x-amz-bucket-region");
        let region = region.and_then(|region| region.to_str().ok()).map(plain);
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let words = format!("the storage is in trouble ({})", status.as_u16());
            return Setback::Again(Fault::Storage(words));
        }
        let elsewhere = region.filter(|region| *region != self.settings.region);
        if let Some(region) = elsewhere {
            let words = format!("the bucket is in the region {region}; set AWS_REGION to it");
            return Setback::Final(Fault::Storage(words));
        }
        let code = text(answer, DESCRIPTION).await.ok().and_then(|text| code(&text));
        Setback::Final(self.fault(status, code.as_deref().unwrap_or_default()))
    }

    fn fault(&self, status: StatusCode, code: &str) -> Fault {
        let storage = |words: &str| Fault::Storage(words.to_owned());
        let object = |words: &str| Fault::Object(words.to_owned());
        match (code, status.as_u16()) {
            ("NoSuchBucket", _) => storage("there is no such bucket"),
            ("NoSuchKey", _) | ("", 404) => object("it is not there"),
            ("InvalidObjectState", _) => object("it is archived; restore it first"),
            ("InvalidAccessKeyId" | "InvalidToken" | "SignatureDoesNotMatch", _) => {
                storage("the access key of this deployment is not accepted")
            }
            ("ExpiredToken", _) => storage("the session token of this deployment has expired"),
            ("RequestTimeTooSkewed", _) => storage("the clock of this machine is wrong"),
            ("AccessDenied", _) | ("", 401 | 403) if self.settings.key.is_none() => object(
                "access is denied; start the deployment with AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY set",
            ),
            ("AccessDenied", _) | ("", 401 | 403) => object("access is denied"),
            ("", status) => Fault::Storage(format!("the storage answered {status}")),
            (code, status) => Fault::Storage(format!("the storage answered {status} {code}")),
        }
    }

    fn bucket(&self, name: &str) -> Result<Bucket, Fault> {
        let region = &self.settings.region;
        let (endpoint, style) = match &self.settings.endpoint {
            Some(endpoint) => (Some(endpoint.clone()), UrlStyle::Path),
            None => {
                let top = if region.starts_with("cn-") { "com.cn" } else { "com" };
                let endpoint = format!("https://s3.{region}.amazonaws.{top}");
                // Names that no certificate or host name fits.
                let odd = |c: char| c == '.' || c == '_' || c.is_ascii_uppercase();
                let style = if name.contains(odd) { UrlStyle::Path } else { UrlStyle::VirtualHost };
                (Url::parse(&endpoint).ok(), style)
            }
        };
        let bucket =
            endpoint.and_then(|url| Bucket::new(url, style, name.to_owned(), region.clone()).ok());
        bucket.ok_or_else(|| Fault::Storage("its bucket has no valid name".to_owned()))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(words) | Self::Storage(words) => f.write_str(words),
            Self::Disk(cause) => write!(f, "the disk does not take it ({})", cause.kind()),
        }
    }
}

/// A failure without an answer. The library's own words repeat the address, which is signed.
pub fn lost(cause: &reqwest::Error) -> Setback {
    let words = if cause.is_timeout() {
        "the storage does not answer in time"
    } else if cause.is_connect() {
        "the storage cannot be reached"
    } else {
        "the connection to the storage broke"
    };
    Setback::Again(Fault::Storage(words.to_owned()))
}

/// A short answer as text.
async fn text(mut answer: Response, most: usize) -> Result<String, Setback> {
    let wrong = |words: &str| Setback::Final(Fault::Storage(words.to_owned()));
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|cause| lost(&cause))? {
        if bytes.len() + chunk.len() > most {
            return Err(wrong("the storage answered without end"));
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| wrong("what answers is no object storage"))
}

/// The code in the description of an error.
fn code(description: &str) -> Option<String> {
    let document = roxmltree::Document::parse(description).ok()?;
    let code = document.descendants().find(|node| node.has_tag_name("Code"))?;
    Some(plain(code.text()?)).filter(|code| !code.is_empty())
}

/// A word from outside, as far as it is one.
fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}
