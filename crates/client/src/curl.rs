//! Writes requests as `curl` commands, for copying and for dry runs. A dry run records the request of a command without
//! sending it. No command contains the token, because the shell inserts it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, sync::Arc};

use parking_lot::Mutex;
use reqwest::header::{COOKIE, HeaderName};

use crate::{
    multipart::{FormContent, FormPart},
    request::{ApiRequest, RequestBody},
};
use tessera_model::{Failure, ShellCommand};
use tessera_wire::endpoints::Endpoint;

impl ApiRequest {
    /// Writes the request as a command. `login` is the header that carries the login, if the request has one.
    pub(super) fn curl(&self, login: Option<&HeaderName>) -> ShellCommand {
        let curl = ShellCommand::new("curl -sS");
        let curl = match login {
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
            RequestBody::Form(form) => form.parts().iter().fold(curl, add_form_part),
        };
        curl.word(self.url.as_str())
    }
}

/// Appends a part of a form as an option.
fn add_form_part(curl: ShellCommand, part: &FormPart) -> ShellCommand {
    let field = &part.field;
    let (path, name) = match &part.content {
        FormContent::Text(bytes) => {
            let value = String::from_utf8_lossy(bytes);
            let text = format!("{field}={value}");
            // With `-F`, `@` and `<` would read a file, a semicolon would start an option, quotes would be removed, and
            // so would leading blanks.
            let is_literal =
                text.contains(['@', '<', ';', '"']) || value.starts_with(char::is_whitespace);
            return curl.option(if is_literal { "--form-string" } else { "-F" }, text);
        }
        FormContent::File { path, name, .. } => (path, name),
        FormContent::OnDisk(file) => (&file.path, &file.name),
    };
    let mut option = format!("{field}=@").into_bytes();
    push_curl_word(&mut option, path.as_os_str().as_bytes());
    // Without a name, `curl` sends that of the file.
    if path.file_name() != Some(OsStr::new(name)) {
        option.extend_from_slice(b";filename=");
        push_curl_word(&mut option, name.as_bytes());
    }
    curl.option("-F", OsStr::from_bytes(&option))
}

/// Appends a path or a name as `curl -F` reads it: in quotes, if it contains what would end it.
fn push_curl_word(option: &mut Vec<u8>, word: &[u8]) {
    let is_bare = word.trim_ascii() == word && !word.iter().any(|byte| b",;\"\\".contains(byte));
    if is_bare {
        return option.extend_from_slice(word);
    }
    option.push(b'"');
    for byte in word {
        if b"\"\\".contains(byte) {
            option.push(b'\\');
        }
        option.push(*byte);
    }
    option.push(b'"');
}

/// The endpoints whose requests are not sent, and the first such request.
#[derive(Clone, Debug)]
pub struct DryRun {
    endpoints: &'static [Endpoint],
    request: Arc<Mutex<Option<DryRunRequest>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRunRequest {
    pub method: &'static str,
    /// The full URL. It contains no login.
    pub url: String,
    /// The `curl` command. The shell inserts the token, so the command does not contain it.
    pub curl: ShellCommand,
}

impl DryRun {
    pub fn new(endpoints: &'static [Endpoint]) -> Self {
        Self { endpoints, request: Arc::default() }
    }

    pub fn request(&self) -> Option<DryRunRequest> {
        self.request.lock().clone()
    }

    pub fn take_request(&self) -> Option<DryRunRequest> {
        self.request.lock().take()
    }

    /// Returns the failure that ends the command if the request belongs to the dry run.
    pub(super) fn intercept(
        &self,
        login: Option<&HeaderName>,
        request: &ApiRequest,
    ) -> Option<Failure> {
        if !self.endpoints.contains(&request.endpoint) {
            return None;
        }
        let request = DryRunRequest {
            method: request.method(),
            url: request.url.to_string(),
            curl: request.curl(login),
        };
        self.request.lock().get_or_insert(request);
        Some(Failure::local("dry run: nothing was sent"))
    }
}
