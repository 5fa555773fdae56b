//! Prints the paths of the files in which a search has found media items, for other programs (`--paths`, `--print0`).

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use crate::{
    cli::{CliError, CliResult, Context, search::found_media::FoundMedia},
    printable_text::PrintableText,
};
use tessera_model::text::count_with_noun;

pub struct PathPrinter {
    /// Whether each path ends with NUL instead of a line break.
    ends_with_null: bool,
    without_file: usize,
    with_line_break: usize,
}

impl PathPrinter {
    pub fn new(context: &Context, ends_with_null: bool) -> CliResult<Self> {
        if context.out.is_machine() || context.global.csv {
            let message = "--paths prints only paths; remove --json, --jsonl, --csv and --jq";
            return Err(CliError::usage(message));
        }
        Ok(Self { ends_with_null, without_file: 0, with_line_break: 0 })
    }

    pub fn print(&mut self, context: &Context, found: &[FoundMedia]) -> CliResult<()> {
        let mut bytes = Vec::new();
        for found in found {
            match found.preview.original_path.as_deref() {
                Some(path) => self.append(path, &mut bytes),
                None => self.without_file += 1,
            }
        }
        // Only other programs get the paths unchanged, because a path could control the terminal.
        if !bytes.is_empty() && !context.out.write_raw(&bytes)? {
            let text = String::from_utf8_lossy(&bytes).replace('\0', "\n");
            context.out.print_text(PrintableText::lines(&text).as_str())?;
        }
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &mut Vec<u8>) {
        let path = path.as_os_str().as_bytes();
        if !self.ends_with_null && path.contains(&b'\n') {
            self.with_line_break += 1;
            return;
        }
        bytes.extend_from_slice(path);
        bytes.push(if self.ends_with_null { b'\0' } else { b'\n' });
    }

    /// Warns about the paths that could not be printed. Returns whether all paths were printed.
    pub fn report(&self, context: &Context) -> bool {
        if self.without_file > 0 {
            let media = count_with_noun(self.without_file, "media item has", "media items have");
            context.messages.warn(format!("{media} no path on this machine"));
        }
        if self.with_line_break > 0 {
            let paths = count_with_noun(self.with_line_break, "path has", "paths have");
            context.messages.warn(format!("{paths} a line break and cannot be a line; use -0"));
        }
        self.without_file == 0 && self.with_line_break == 0
    }
}
