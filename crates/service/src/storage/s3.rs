//! Requests to object storage: signed by the library, sent by a client of our own, sent again
//! for a while when the service has trouble.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rusty_s3::{
    Bucket, S3Action as _, UrlStyle,
    actions::{ListObjectsV2, list_objects_v2::ListObjectsV2Response},
};
use tokio::time::sleep;

use super::{
    fault::{Fault, Setback, lost, plain},
    settings::Settings,
};

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a request is sent.
const ATTEMPTS: u32 = 4;
/// How long a signature is good.
const SIGNED: Duration = Duration::from_mins(15);
/// Largest page of a listing, and largest description of an error, in bytes.
const PAGE: usize = 16 << 20;
const DESCRIPTION: usize = 64 << 10;

/// How long storage is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the next bytes.
    pub idle: Duration,
    /// After the first failure; then twice as long each time.
    pub pause: Duration,
}

/// Object storage.
#[derive(Clone, Debug)]
pub struct S3 {
    client: Client,
    settings: Settings,
    patience: Patience,
}

impl Default for Patience {
    fn default() -> Self {
        Self { idle: Duration::from_secs(30), pause: Duration::from_millis(250) }
    }
}

impl S3 {
    /// Reaches storage as the settings say.
    pub fn new(settings: Settings, patience: Patience) -> Result<Self, Fault> {
        let builder = Client::builder()
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(patience.idle)
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
        Ok(Self { client, settings, patience })
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
                    sleep(self.patience.pause * (1 << (failed - 1))).await;
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
        if matches!(status.as_u16(), 301 | 307 | 400)
            && let Some(region) = region.filter(|region| *region != self.settings.region)
        {
            let words = format!("the bucket is in the region {region}; set AWS_REGION to it");
            return Setback::Final(Fault::Storage(words));
        }
        // Without a description the status has to do.
        let description = text(answer, DESCRIPTION).await.unwrap_or_default();
        Setback::Final(Fault::of(status.as_u16(), &description, self.settings.key.is_none()))
    }

    fn bucket(&self, name: &str) -> Result<Bucket, Fault> {
        let region = &self.settings.region;
        // Names that no certificate or host name fits.
        let odd = |c: char| c == '.' || c == '_' || c.is_ascii_uppercase();
        let (endpoint, style) = if let Some(endpoint) = &self.settings.endpoint {
            (Some(endpoint.clone()), UrlStyle::Path)
        } else {
            let top = if region.starts_with("cn-") { "com.cn" } else { "com" };
            let endpoint = Url::parse(&format!("https://s3.{region}.amazonaws.{top}")).ok();
            (endpoint, if name.contains(odd) { UrlStyle::Path } else { UrlStyle::VirtualHost })
        };
        endpoint
            .and_then(|url| Bucket::new(url, style, name.to_owned(), region.clone()).ok())
            .ok_or_else(|| Fault::Storage("its bucket has no valid name".to_owned()))
    }
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

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m27_buckets_have_the_addresses_of_the_cloud_or_of_the_endpoint() {
        let address = |region: &str, endpoint: Option<&str>, bucket: &str| {
            let endpoint = endpoint.map(|url| Url::parse(url).unwrap());
            let settings = Settings { key: None, region: region.to_owned(), endpoint };
            let s3 = S3::new(settings, Patience::default()).unwrap();
            s3.bucket(bucket).unwrap().object_url("a b.jpg").to_string()
        };
        let cloud = [
            ("eu-west-1", "photos", "photos.s3.eu-west-1.amazonaws.com/a%20b.jpg"),
            ("eu-west-1", "my.photos", "s3.eu-west-1.amazonaws.com/my.photos/a%20b.jpg"),
            ("cn-north-1", "photos", "photos.s3.cn-north-1.amazonaws.com.cn/a%20b.jpg"),
        ];
        for (region, bucket, expected) in cloud {
            assert_eq!(address(region, None, bucket), format!("https://{expected}"));
        }
        let own = address("x", Some("http://127.0.0.1:9000/s3"), "photos");
        assert_eq!(own, "http://127.0.0.1:9000/s3/photos/a%20b.jpg");
    }

    #[test]
    fn n10_loopback_is_reached_without_a_proxy() {
        for (url, expected) in [
            ("http://127.0.0.1:9000", true),
            ("http://localhost", true),
            ("http://[::1]:9000", true),
            ("https://s3.example.com", false),
            ("http://127.0.0.1.example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
