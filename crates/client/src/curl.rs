//! Writes requests as `curl` commands, for copying and for dry runs. No command contains the token, because the shell
//! inserts it.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use reqwest::header::{COOKIE, HeaderName};

use crate::{
    multipart::{FormContent, FormPart},
    request::{ApiRequest, RequestBody},
};
use tessera_model::ShellCommand;

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
