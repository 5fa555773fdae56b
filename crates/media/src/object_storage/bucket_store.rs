//! Opens a bucket: the client of its cloud, with credentials of the settings or of the machine.

use std::{fmt::Debug, net::IpAddr, sync::Arc};

use object_store::{
    CredentialProvider, ObjectStore, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    azure::{MicrosoftAzure, MicrosoftAzureBuilder},
    gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder},
    list::PaginatedListStore,
    multipart::MultipartStore,
    signer::Signer,
};
use reqwest::{Client, Url};

use super::{
    error::{StorageAttemptError, StorageError},
    object_uri::{BucketUri, CloudService},
    settings::StorageSettings,
    transport::Transport,
};

pub trait BucketStore: ObjectStore + PaginatedListStore + MultipartStore + Signer {}

impl<T: ObjectStore + PaginatedListStore + MultipartStore + Signer> BucketStore for T {}

/// Opens a bucket. Requests are not signed if the settings and the machine have no credentials.
pub async fn open(
    settings: &StorageSettings,
    client: &Client,
    bucket: &BucketUri,
) -> Result<Arc<dyn BucketStore>, StorageAttemptError> {
    match bucket.service {
        CloudService::S3 => {
            let build = |transport| build_s3(settings, bucket, transport);
            open_with(settings, client, bucket, build, AmazonS3::credentials).await
        }
        CloudService::GoogleCloud => {
            let build = |transport| build_google_cloud(settings, bucket, transport);
            open_with(settings, client, bucket, build, GoogleCloudStorage::credentials).await
        }
        CloudService::Azure => {
            let build = |transport| build_azure(settings, bucket, transport);
            open_with(settings, client, bucket, build, MicrosoftAzure::credentials).await
        }
    }
}

async fn open_with<S: BucketStore, C: Debug + Send + Sync + 'static>(
    settings: &StorageSettings,
    client: &Client,
    bucket: &BucketUri,
    build: impl Fn(Transport) -> object_store::Result<S>,
    credentials: impl Fn(&S) -> &Arc<dyn CredentialProvider<Credential = C>>,
) -> Result<Arc<dyn BucketStore>, StorageAttemptError> {
    let service = bucket.service;
    let unsuitable = |_| {
        let scheme = service.scheme();
        StorageError::service(format!(
            "the settings of this deployment for {scheme}:// are not valid"
        ))
    };
    if service == CloudService::Azure && !settings.has_azure_account() {
        return Err(StorageError::service("AZURE_STORAGE_ACCOUNT_NAME is not set").into());
    }
    let transport = |signed| Transport::new(client, service, settings.region(), signed);
    if !settings.skips_signature(service) {
        let store = build(transport(true)).map_err(unsuitable)?;
        let provider = Arc::clone(credentials(&store));
        if settings.has_credentials(service) {
            provider.get_credential().await.map_err(|_| {
                StorageError::service(
                    "the credentials of this deployment cannot be read or fetched",
                )
            })?;
            return Ok(Arc::new(store));
        }
        if provider.get_credential().await.is_ok() {
            return Ok(Arc::new(store));
        }
    }
    Ok(Arc::new(build(transport(false)).map_err(unsuitable)?))
}

/// Attempts are repeated by us, with the body of the response.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

fn build_s3(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<AmazonS3> {
    let (endpoint, by_host) = s3_address(settings, &bucket.name);
    settings
        .options("AWS_")
        .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value))
        .with_bucket_name(&bucket.name)
        .with_region(settings.region())
        .with_config(object_store::aws::AmazonS3ConfigKey::S3Endpoint, endpoint)
        .with_virtual_hosted_style_request(by_host)
        .with_allow_http(true)
        // Not every service with the API of S3 can delete several objects at a time.
        .with_disable_bulk_delete(true)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

fn build_google_cloud(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<GoogleCloudStorage> {
    settings
        .options("GOOGLE_")
        .fold(GoogleCloudStorageBuilder::new(), |builder, (key, value)| {
            builder.with_config(key, value)
        })
        .with_bucket_name(&bucket.name)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

fn build_azure(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<MicrosoftAzure> {
    settings
        .options("AZURE_")
        .fold(MicrosoftAzureBuilder::new(), |builder, (key, value)| builder.with_config(key, value))
        .with_container_name(&bucket.name)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

/// The address of the API, and whether it contains the bucket in its host.
fn s3_address(settings: &StorageSettings, bucket: &str) -> (String, bool) {
    if let Some(endpoint) = settings.endpoint() {
        return (endpoint.into(), false);
    }
    let region = settings.region();
    let top = if region.starts_with("cn-") { "com.cn" } else { "com" };
    // Names that do not match a wildcard certificate or a host name.
    let unsuitable = |c: char| c == '.' || c == '_' || c.is_ascii_uppercase();
    if bucket.contains(unsuitable) {
        (format!("https://s3.{region}.amazonaws.{top}"), false)
    } else {
        (format!("https://{bucket}.s3.{region}.amazonaws.{top}"), true)
    }
}

pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use object_store::path::Path;
    use reqwest::Method;

    use super::*;

    async fn address(variables: &[(&str, &str)], uri: &str) -> String {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let settings = StorageSettings::from_env(variables).unwrap();
        let bucket = super::super::ObjectUri::parse(uri).unwrap().bucket;
        let store = open(&settings, &Client::new(), &bucket).await.unwrap();
        let path = Path::parse("a b.jpg").unwrap();
        let url = store.signed_url(Method::GET, &path, Duration::from_mins(1)).await.unwrap();
        url.as_str().split('?').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn bucket_addresses_depend_on_service_region_and_endpoint() {
        let key = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        for (name, value, uri, expected) in [
            (
                "AWS_REGION",
                "eu-west-1",
                "s3://photos",
                "https://photos.s3.eu-west-1.amazonaws.com/a%20b.jpg",
            ),
            (
                "AWS_REGION",
                "eu-west-1",
                "s3://my.photos",
                "https://s3.eu-west-1.amazonaws.com/my.photos/a%20b.jpg",
            ),
            (
                "AWS_REGION",
                "cn-north-1",
                "s3://photos",
                "https://photos.s3.cn-north-1.amazonaws.com.cn/a%20b.jpg",
            ),
            (
                "AWS_ENDPOINT_URL",
                "http://127.0.0.1:9000/s3",
                "s3://photos",
                "http://127.0.0.1:9000/s3/photos/a%20b.jpg",
            ),
        ] {
            let variables = [key[0], key[1], (name, value)];
            assert_eq!(address(&variables, uri).await, expected);
        }
        let azure =
            [("AZURE_STORAGE_ACCOUNT_NAME", "team"), ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0")];
        let expected = "https://team.blob.core.windows.net/photos/a%20b.jpg";
        assert_eq!(address(&azure, "az://photos").await, expected);
    }

    #[test]
    fn loopback_is_reached_without_a_proxy() {
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
