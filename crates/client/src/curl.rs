//! Requests as `curl` commands to copy. The token is not included: the shell inserts it.

use crate::{
    request::{ApiRequest, RawPart, RequestBody},
    retry_table::ApiOperation,
};
use shell_words::quote;

impl ApiRequest {
    pub(super) fn curl(&self, login: bool) -> String {
        let login = match self.operation {
            _ if !login && self.is_unsafe_get() => " -H 'X-Requested-With: curl'",
            _ if !login => "",
            ApiOperation::Credentials => " -b \"SESSION=$SESSION\"",
            _ => " -H \"Authorization: Bearer $TESSERA_TOKEN\"",
        };
        let body = match &self.body {
            RequestBody::Get => String::new(),
            RequestBody::Post => " -X POST".to_owned(),
            RequestBody::Json(body) => {
                let body = quote(&String::from_utf8_lossy(body)).into_owned();
                format!(" -H 'Content-Type: application/json' -d {body}")
            }
            // The bytes sent are an upright copy under a generated name.
            RequestBody::Image(image) => format!(" -F file=@{}", image.name),
            RequestBody::Form(parts) => form_options(parts.iter().map(RawPart::to_curl_argument)),
            RequestBody::Media(media) => form_options(media.curl_fields()),
        };
        format!("curl -sS{login}{body} {}", quote(self.url.as_str()))
    }
}

fn form_options(fields: impl Iterator<Item = String>) -> String {
    fields.flat_map(|field| [" -F ".to_owned(), quote(&field).into_owned()]).collect()
}
