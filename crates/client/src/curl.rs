//! Requests as `curl` commands to copy. The token is not included: the shell inserts it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use reqwest::header::{COOKIE, HeaderName};

use crate::{
    form_field::FormField,
    request::{ApiRequest, RawPart, RequestBody},
};
use tessera_model::ShellCommand;

impl ApiRequest {
    /// `login` is the header that carries it, if the request has one.
    pub(super) fn curl(&self, login: Option<&HeaderName>) -> ShellCommand {
        let curl = ShellCommand::new("curl -sS");
        let curl = match login {
            None if self.is_unsafe_get() => curl.text("-H 'X-Requested-With: curl'"),
            None => curl,
            Some(name) if *name == COOKIE => curl.text("-b \"SESSION=$SESSION\""),
            Some(_) => curl.text("-H \"Authorization: Bearer $TESSERA_TOKEN\""),
        };
        let curl = match &self.body {
            RequestBody::Get => curl,
            RequestBody::Post => curl.text("-X POST"),
            RequestBody::Json(body) => curl
                .text("-H 'Content-Type: application/json'")
                .option("-d", OsStr::from_bytes(body)),
            // The bytes sent are an upright copy under a generated name.
            RequestBody::Image(image) => curl.option("-F", format!("file=@{}", image.name())),
            RequestBody::Form(parts) => {
                parts.iter().map(RawPart::form_field).fold(curl, FormField::add_to)
            }
            RequestBody::Media(media) => media.form_fields().fold(curl, FormField::add_to),
        };
        curl.word(self.url.as_str())
    }
}
