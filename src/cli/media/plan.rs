//! Resolves the sources of an addition, and plans the requests that send them.

use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

use glob::Pattern;
use tessera_client::{DryRunRequest, LocalFiles, files_to_send};
use tessera_interface::file_uri::{is_file_uri, local_path_of_file_uri, without_comments};
use tessera_model::{FailureKind, MediaAddition, MediaSource, Preflight, ingest::UnreadableFile};
use tessera_wire::text_encoding::decode_marked;

use crate::cli::prelude::*;
use crate::cli::{messages::format_bytes, values::read_bytes_or_stdin};

#[derive(Debug)]
pub struct AdditionPlan {
    /// The parts in order, one per request. Only the plan of a dry run can be empty.
    pub parts: Vec<AdditionPart>,
    pub preflight: Preflight,
    pub description: String,
    /// The source, written as options of this command.
    pub option: ShellCommand,
}

#[derive(Debug)]
pub struct AdditionPart {
    pub addition: MediaAddition,
    /// The number of files to upload. Zero if the service fetches the source itself.
    pub files: u64,
    pub bytes: u64,
}

impl AdditionPlan {
    /// Divides the files of a source into requests. If it is `strict`, a file that cannot be read prevents the
    /// addition.
    pub async fn prepare(
        context: &Context,
        source: ResolvedSource,
        addition: MediaAddition,
        max_files: Option<u64>,
        strict: bool,
    ) -> CliResult<Self> {
        let ResolvedSource { media, glob, unexpected_folders, description, option } = source;
        let max_files = max_files.and_then(|max| usize::try_from(max).ok());
        let inspection = tokio::task::spawn_blocking(move || match media {
            MediaSource::Files(paths) => {
                let LocalFiles { files, preflight } = files_to_send(&paths, glob.as_ref());
                let parts = files.chunks(max_files.unwrap_or(usize::MAX)).map(|files| {
                    let paths = files.iter().map(|file| file.path.clone()).collect();
                    AdditionPart {
                        files: files.len() as u64,
                        bytes: files.iter().map(|file| file.bytes).sum(),
                        addition: MediaAddition {
                            source: MediaSource::Files(paths),
                            ..addition.clone()
                        },
                    }
                });
                Ok((parts.collect(), preflight))
            }
            source => tessera_client::preflight(&source).map(|preflight| {
                let files = u64::from(matches!(source, MediaSource::Archive(_)));
                (vec![AdditionPart { files, bytes: preflight.bytes, addition }], preflight)
            }),
        });
        let lost = |_| Failure::new(FailureKind::Local, "the media could not be inspected");
        let (parts, preflight) = inspection.await.map_err(lost)??;
        let plan = Self { parts, preflight, description, option };
        plan.report(context);
        // A dry run prints the plan that has nothing to send, too.
        if !(context.global.dry_run && plan.parts.is_empty()) {
            plan.check(strict)?;
        }
        plan.confirm_folders(context, &unexpected_folders)?;
        Ok(plan)
    }

    /// Asks before files are sent that no option and no list names.
    fn confirm_folders(&self, context: &Context, folders: &[PathBuf]) -> CliResult<()> {
        let [first, others @ ..] = folders else { return Ok(()) };
        if context.is_dry_run() {
            return Ok(());
        }
        let others = match others.len() {
            0 => String::new(),
            count => format!(" and {}", count_with_noun(count, "other folder", "other folders")),
        };
        let Preflight { images, videos, .. } = &self.preflight;
        let question = format!(
            "{}{others} is not a file; send everything in it, {images} images and {videos} videos in all?",
            first.display()
        );
        if context.confirm(&question, "--yes, or name the folder with --dir")? {
            return Ok(());
        }
        Err(CliError::usage("nothing was sent; name files, or a folder with --dir"))
    }

    fn report(&self, context: &Context) {
        let Preflight { unreadable, unreadable_files, warnings, skipped, .. } = &self.preflight;
        warn_of_unreadable(context, unreadable_files);
        let more = unreadable - unreadable_files.len() as u64;
        if more > 0 {
            let files = count_with_noun(more, "more file", "more files");
            context.messages.warn(format!("skipped {files} that cannot be read"));
        }
        for warning in warnings {
            context.messages.warn(warning);
        }
        if *skipped > 0 {
            let (one, many) =
                ("link or file that is not media", "links and files that are not media");
            context.messages.info(format!("ignored {}", count_with_noun(*skipped, one, many)));
        }
    }

    pub fn check(&self, strict: bool) -> CliResult<()> {
        let unreadable = self.preflight.unreadable;
        if strict && unreadable > 0 {
            let files = count_with_noun(unreadable, "file", "files");
            let message = format!("nothing was sent (--strict): {files} cannot be read");
            return Err(CliError::failed(message).with_code("unreadable_files"));
        }
        if self.parts.is_empty() {
            let message = format!("no readable image or video: {}", self.description);
            return Err(CliError::failed(message).with_code("no_media"));
        }
        Ok(())
    }

    pub fn file_count(parts: &[AdditionPart]) -> u64 {
        parts.iter().map(|part| part.files).sum()
    }

    /// Returns the absolute paths of the files, each followed by a NUL byte.
    pub fn file_list(parts: &[AdditionPart]) -> std::io::Result<Vec<u8>> {
        let mut list = Vec::new();
        for part in parts {
            let MediaSource::Files(paths) = &part.addition.source else { continue };
            for path in paths {
                list.extend_from_slice(std::path::absolute(path)?.as_os_str().as_encoded_bytes());
                list.push(0);
            }
        }
        Ok(list)
    }

    pub fn document(
        &self,
        dataset: &Dataset,
        request: Option<&DryRunRequest>,
        refusal: Option<&str>,
    ) -> Document {
        let parts: Vec<Value> = (1..)
            .zip(&self.parts)
            .map(|(part, it)| json!({ "part": part, "files": it.files, "bytes": it.bytes }))
            .collect();
        let plan = json!({
            "dataset_id": dataset.id,
            "display_name": dataset.name.received(),
            "status_new": dataset.status.as_str(),
            "source": self.description,
            "images": self.preflight.images,
            "videos": self.preflight.videos,
            "bytes": self.preflight.bytes,
            "parts": parts,
            "skipped": unreadable_json(&self.preflight.unreadable_files),
            "n_skipped": self.preflight.unreadable,
            "refusal": refusal,
            "request": request.map(|it| json!({ "method": it.method, "url": it.url })),
        });
        Document::new("tessera.addition_plan/1", plan)
    }

    pub fn summary(&self, dataset: &Dataset) -> String {
        let Preflight { images, videos, bytes, .. } = &self.preflight;
        let parts = match self.parts.len() {
            1 => "one request".to_owned(),
            several => format!("{several} parts"),
        };
        let what = if Self::file_count(&self.parts) == 0 {
            self.description.clone()
        } else {
            format!("{images} images and {videos} videos, {}", format_bytes(*bytes))
        };
        format!("would add {what} to {} ({}) in {parts}", dataset.name, dataset.status.as_str())
    }
}

pub fn warn_of_unreadable(context: &Context, files: &[UnreadableFile]) {
    for file in files {
        context.messages.warn(format!("skipped {}: {}", file.name, file.reason));
    }
}

pub fn unreadable_json<'a>(files: impl IntoIterator<Item = &'a UnreadableFile>) -> Value {
    files
        .into_iter()
        .map(|file| json!({ "name": file.name.received(), "reason": file.reason.received() }))
        .collect()
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sources (one of these kinds)")]
pub struct SourceOptions {
    /// A folder or a manifest (.csv, .parquet, .txt) in object storage: <s3://bucket/path>. A
    /// local service reads gs:// and az://, too.
    #[arg(long, value_name = "URI")]
    s3: Option<String>,
    /// One or more files; repeatable.
    #[arg(long = "file", short = 'f', value_name = "FILE", num_args = 1..)]
    files: Vec<PathBuf>,
    /// A folder with its subfolders, without hidden files and links; repeatable.
    #[arg(long = "dir", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Only files in the folders whose names match; a pattern with a slash matches relative paths.
    #[arg(long, value_name = "PATTERN", requires = "folders")]
    glob: Option<Pattern>,
    /// Add the files and folders that a list names, separated by NUL bytes or lines; - for standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// An archive: .zip, .tar or .tar.gz; the local service also unpacks .tar.xz and .tar.zst.
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// A folder as seen by the pipeline of an on-premises deployment; not checked from here.
    #[arg(long, value_name = "PATH")]
    server_path: Option<String>,
}

#[derive(Debug)]
pub struct ResolvedSource {
    pub media: MediaSource,
    pub glob: Option<Pattern>,
    /// The folders among the paths that were given as files.
    pub unexpected_folders: Vec<PathBuf>,
    pub description: String,
    /// The source, written as options of this command.
    pub option: ShellCommand,
}

impl SourceOptions {
    pub fn resolve(&self) -> CliResult<ResolvedSource> {
        let local = !self.files.is_empty() || !self.folders.is_empty() || self.files_from.is_some();
        let (media, description, (flag, value)) =
            match (&self.s3, local, &self.archive, &self.server_path) {
                (Some(uri), false, None, None) => {
                    (MediaSource::Storage(uri.clone()), uri.clone(), ("--s3", uri.as_ref()))
                }
                (None, true, None, None) => return self.resolve_files(),
                (None, false, Some(path), None) => {
                    let option = ("--archive", path.as_os_str());
                    (MediaSource::Archive(path.clone()), path_text(path), option)
                }
                (None, false, None, Some(path)) => {
                    let option = ("--server-path", path.as_ref());
                    (MediaSource::ServerPath(path.clone()), path.clone(), option)
                }
                _ => return Err(self.source_count_error(local)),
            };
        let option = ShellCommand::default().option(flag, value);
        let unexpected_folders = Vec::new();
        Ok(ResolvedSource { media, glob: None, unexpected_folders, description, option })
    }

    fn source_count_error(&self, local: bool) -> CliError {
        let sources = [
            (self.s3.is_some(), "--s3"),
            (local, "files"),
            (self.archive.is_some(), "--archive"),
            (self.server_path.is_some(), "--server-path"),
        ];
        let given: Vec<&str> =
            sources.into_iter().filter_map(|(is, name)| is.then_some(name)).collect();
        let given = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
        let message = format!(
            "Exactly one media source must be provided: files[], s3_uri, or archive (given: \
             {given}). Give --file, --dir or --files-from; or --s3; or --archive; or --server-path"
        );
        CliError::usage(message).with_code("media_source_count")
    }

    fn resolve_files(&self) -> CliResult<ResolvedSource> {
        let mut paths = self.files.clone();
        let mut option = self
            .files
            .iter()
            .fold(ShellCommand::default(), |option, path| option.option("--file", path));
        for folder in &self.folders {
            if !folder.is_dir() {
                let message = format!("--dir {}: not a folder", folder.display());
                return Err(CliError::usage(message));
            }
            option = option.option("--dir", folder);
        }
        if let Some(glob) = &self.glob {
            option = option.option("--glob", glob.as_str());
        }
        let mut unexpected_folders = folders_among(&paths);
        paths.extend(self.folders.iter().cloned());
        if let Some(list) = &self.files_from {
            let bytes = read_bytes_or_stdin(list).map_err(|error| {
                let message = format!("--files-from {}", error.message);
                error.with_message(message)
            })?;
            let listed = split_file_list(&bytes).map_err(|reason| {
                CliError::usage(format!("--files-from {}: {reason}", list.display()))
            })?;
            if listed.is_empty() && paths.is_empty() {
                let message = format!("--files-from {}: the list is empty", list.display());
                return Err(CliError::usage(message));
            }
            unexpected_folders.extend(folders_among(&listed));
            paths.extend(listed);
            option = option.option("--files-from", list);
        }
        let description = match paths.as_slice() {
            [only] => path_text(only),
            many => format!("{} files and folders", many.len()),
        };
        let (media, glob) = (MediaSource::Files(paths), self.glob.clone());
        Ok(ResolvedSource { media, glob, unexpected_folders, description, option })
    }
}

/// Splits a list at NUL bytes, or at newlines if it has no NUL bytes. Any other byte is part of a
/// name. A list with a byte-order mark is decoded, and a `file` URI of this machine stands for its path.
pub fn split_file_list(bytes: &[u8]) -> Result<Vec<PathBuf>, String> {
    let bytes = decode_marked(bytes).map_err(|reason| reason.to_string())?;
    let lines = !bytes.contains(&0);
    let names: Vec<&[u8]> = bytes
        .split(|byte| *byte == if lines { b'\n' } else { 0 })
        .map(|name| name.strip_suffix(b"\r").filter(|_| lines).unwrap_or(name))
        .filter(|name| !name.is_empty())
        .collect();
    // UTF-16 has a NUL byte beside each ASCII character. Split there, the single character `/` would name the root
    // folder.
    let is_character = |name: &&&[u8]| name.len() == 1 || name.trim_ascii().is_empty();
    if !lines && 2 * names.iter().filter(is_character).count() >= names.len() {
        return Err(
            "it looks like UTF-16 or UTF-32 text; save it as UTF-8, or write ./ before the names"
                .to_owned(),
        );
    }
    without_comments(names).into_iter().map(listed_path).collect()
}

fn listed_path(name: &[u8]) -> Result<PathBuf, String> {
    match str::from_utf8(name) {
        Ok(uri) if is_file_uri(uri) => local_path_of_file_uri(uri)
            .map(PathBuf::from)
            .ok_or_else(|| format!("{uri} is not a file of this machine")),
        _ => Ok(PathBuf::from(OsString::from_vec(name.to_vec()))),
    }
}

fn folders_among(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter(|path| path.is_dir()).cloned().collect()
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_nul_or_else_by_line() {
        let names = |bytes: &[u8]| -> Vec<String> {
            split_file_list(bytes).unwrap().iter().map(|path| path_text(path)).collect()
        };
        assert_eq!(names(b"./a.jpg\0./b\nc.jpg\0"), ["./a.jpg", "./b\nc.jpg"]);
        assert_eq!(names(b"a b.jpg\r\n\nc.jpg"), ["a b.jpg", "c.jpg"]);
        assert!(names(b"\n").is_empty());
        assert_eq!(names(b"file:///p/a%20b.jpg\nfile://localhost/c"), ["/p/a b.jpg", "/c"]);
        assert_eq!(names(b"# copied\r\nFILE:///p/a%20b\r\nfile:/c\r\n"), ["/p/a b", "/c"]);
        assert_eq!(names(b"#1.jpg\n/p/b.jpg\nfile:///c"), ["#1.jpg", "/p/b.jpg", "/c"]);
        let refused = split_file_list(b"file://other.example/c").unwrap_err();
        assert_eq!(refused, "file://other.example/c is not a file of this machine");
        assert_eq!(split_file_list(b"\xff.jpg").unwrap().len(), 1, "names need not be text");
        assert_eq!(names(b"a\0./b.jpg\0c.jpg\0"), ["a", "./b.jpg", "c.jpg"]);
    }

    #[test]
    fn lists_in_utf_16_are_decoded_or_refused_but_never_split_into_characters() {
        let text = "/pics/a.png\r\n/pics/b.png\r\n";
        let marked = format!("\u{feff}{text}");
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let encode = |text: &str| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
            let names = split_file_list(&encode(&marked)).unwrap();
            assert_eq!(names, [Path::new("/pics/a.png"), Path::new("/pics/b.png")]);
            for text in [text, "/", "图.png\n", "/a\n", "a\0b\0"] {
                let refused = split_file_list(&encode(text)).unwrap_err();
                assert!(refused.contains("UTF-16"), "{text:?} {refused}");
            }
            // UTF-32 begins with the mark of UTF-16.
            let wide: Vec<u8> = marked
                .chars()
                .flat_map(|c| [u32::from(c).to_le_bytes()[0..2].to_vec(), vec![0, 0]].concat())
                .collect();
            assert!(split_file_list(&wide).is_err());
        }
        assert_eq!(split_file_list(marked.as_bytes()).unwrap().len(), 2);
    }
}
