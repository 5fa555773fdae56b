//! A field of a multipart form as an option of `curl`.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf};

use tessera_model::ShellCommand;

pub(super) enum FormField {
    Text(String),
    /// The name of the field, and the path of the file.
    File(String, PathBuf),
}

impl FormField {
    /// Appends the field as an option.
    pub(super) fn add_to(curl: ShellCommand, field: Self) -> ShellCommand {
        match field {
            // `-F` would read a file, or options after a semicolon.
            Self::Text(text) if text.contains(['@', '<', ';']) => {
                curl.option("--form-string", text)
            }
            Self::Text(text) => curl.option("-F", text),
            Self::File(name, path) => {
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
}
