//! What the fake S3 service does with requests that write.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use reqwest::Url;

/// The parts of an upload by their number, and the headers of its object.
type Upload = (BTreeMap<u32, Bytes>, HeaderMap);

#[derive(Clone, Default)]
pub struct Uploads {
    open: Arc<Mutex<BTreeMap<String, Upload>>>,
    /// Headers of complete objects.
    attributes: Arc<Mutex<BTreeMap<String, HeaderMap>>>,
}

impl Uploads {
    pub fn count(&self) -> usize {
        self.open.lock().unwrap().len()
    }

    pub fn attributes(&self, name: &str) -> HeaderMap {
        self.attributes.lock().unwrap().get(name).cloned().unwrap_or_default()
    }

    /// Begins an upload as a process would that is killed then.
    pub fn begin(&self, name: &str) {
        self.open.lock().unwrap().insert(format!("upload-{name}"), Upload::default());
    }

    /// The uploads whose object begins with `prefix`, one a page.
    pub fn list(&self, bucket: &str, prefix: &str, after: &str, begun_at: &str) -> Response {
        let open = self.open.lock().unwrap();
        let keys = open.keys().filter_map(|id| id.strip_prefix(&format!("upload-{bucket}/")));
        let mut keys = keys.filter(|key| key.starts_with(prefix) && *key > after);
        let mut xml = String::from(
            "<?xml version=\"1.0\"?>\
             <ListMultipartUploadsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">",
        );
        if let Some(key) = keys.next() {
            let rest = keys.next().is_some();
            write!(
                xml,
                "<IsTruncated>{rest}</IsTruncated><NextKeyMarker>{key}</NextKeyMarker>\
                 <NextUploadIdMarker>upload-{bucket}/{key}</NextUploadIdMarker><Upload><Key>{key}</Key>\
                 <UploadId>upload-{bucket}/{key}</UploadId><Initiated>{begun_at}</Initiated></Upload>"
            )
            .unwrap();
        }
        (xml + "</ListMultipartUploadsResult>").into_response()
    }

    /// Serves a request that writes; `None` if its upload is not open.
    pub fn write(
        &self,
        objects: &mut BTreeMap<String, Bytes>,
        request: &Parts,
        name: &str,
        url: &Url,
        body: Bytes,
    ) -> Option<Response> {
        let value = |wanted: &str| {
            url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
        };
        let mut open = self.open.lock().unwrap();
        let upload = value("uploadId");
        let response = match (request.method.clone(), upload) {
            (Method::POST, None) => {
                let id = format!("upload-{name}");
                open.insert(id.clone(), (BTreeMap::new(), kept_headers(&request.headers)));
                let body = format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                     </InitiateMultipartUploadResult>"
                );
                body.into_response()
            }
            (Method::PUT, Some(id)) => {
                let number = value("partNumber").unwrap().parse().unwrap();
                open.get_mut(&id)?.0.insert(number, body);
                [(header::ETAG, format!("\"{number}\""))].into_response()
            }
            (Method::POST, Some(id)) => {
                let (parts, headers) = open.remove(&id)?;
                let whole: Vec<u8> = parts.into_values().flatten().collect();
                objects.insert(name.to_owned(), whole.into());
                self.attributes.lock().unwrap().insert(name.to_owned(), headers);
                let tag = "<ETag>whole</ETag>";
                format!("<CompleteMultipartUploadResult>{tag}</CompleteMultipartUploadResult>")
                    .into_response()
            }
            (Method::DELETE, Some(id)) => {
                open.remove(&id)?;
                StatusCode::NO_CONTENT.into_response()
            }
            (Method::DELETE, None) => {
                objects.remove(name);
                StatusCode::NO_CONTENT.into_response()
            }
            _ => {
                objects.insert(name.to_owned(), body);
                [(header::ETAG, "\"whole\"")].into_response()
            }
        };
        Some(response)
    }
}

fn kept_headers(request: &HeaderMap) -> HeaderMap {
    let kept = [header::CONTENT_TYPE, header::CONTENT_DISPOSITION, header::CACHE_CONTROL];
    let found = kept.into_iter().filter_map(|name| {
        let value = request.get(&name)?.clone();
        Some((name, value))
    });
    found.collect()
}
