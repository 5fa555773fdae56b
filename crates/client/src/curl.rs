//! Requests as `curl` commands to copy. The token is not included: the shell inserts it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use crate::{
    form_field::FormField,
    request::{ApiRequest, RawPart, RequestBody},
    retry_table::ApiOperation,
};
use tessera_model::ShellCommand;

impl ApiRequest {
    pub(super) fn curl(&self, login: bool) -> ShellCommand {
        let curl = ShellCommand::new("curl -sS");
        let curl = match self.operation {
            _ if !login && self.is_unsafe_get() => curl.text("-H 'X-Requested-With: curl'"),
            _ if !login => curl,
            ApiOperation::Credentials => curl.text("-b \"SESSION=$SESSION\""),
            _ => curl.text("-H \"Authorization: Bearer $TESSERA_TOKEN\""),
        };
        let curl = match &self.body {
            RequestBody::Get => curl,
            RequestBody::Post => curl.text("-X POST"),
            RequestBody::Json(body) => curl
                .text("-H 'Content-Type: application/json'")
                .option("-d", OsStr::from_bytes(body)),
            // The bytes sent are an upright copy under a generated name.
            RequestBody::Image(image) => curl.option("-F", format!("file=@{}", image.name)),
            RequestBody::Form(parts) => {
                parts.iter().map(RawPart::form_field).fold(curl, FormField::add_to)
            }
            RequestBody::Media(media) => media.form_fields().fold(curl, FormField::add_to),
        };
        curl.word(self.url.as_str())
    }
}
