//! Requests as `curl` commands to copy. The token is not included: the shell inserts it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

use crate::{
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
            RequestBody::Form(parts) => parts.iter().map(RawPart::form_field).fold(curl, add_field),
            RequestBody::Media(media) => media.form_fields().fold(curl, add_field),
        };
        curl.word(self.url.as_str())
    }
}

/// A field of a form, as `curl` reads it.
pub(super) enum FormField {
    Text(String),
    /// The name of the field, and the path of the file.
    File(String, PathBuf),
}

fn add_field(curl: ShellCommand, field: FormField) -> ShellCommand {
    match field {
        // `-F` would read a file, or options after a semicolon.
        FormField::Text(text) if text.contains(['@', '<', ';']) => {
            curl.option("--form-string", text)
        }
        FormField::Text(text) => curl.option("-F", text),
        FormField::File(name, path) => {
            let path = path.as_os_str().as_bytes();
            let mut field = format!("{name}=@").into_bytes();
            if path.iter().any(|byte| b",;\"\\".contains(byte)) {
                field.push(b'"');
                for byte in path {
                    if b"\"\\".contains(byte) {
                        field.push(b'\\');
                    }
                    field.push(*byte);
                }
                field.push(b'"');
            } else {
                field.extend(path);
            }
            curl.option("-F", OsStr::from_bytes(&field))
        }
    }
}
