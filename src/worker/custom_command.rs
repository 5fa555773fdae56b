//! Prepares and starts the user's own commands: finds the files, writes the list and the selection that the command
//! reads, and reports when the command fails later.

use std::{
    collections::HashSet,
    fs,
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
    process::{Child, Stdio},
    thread,
};

use tessera_config::custom_command::{Placeholder, PlaceholderValues, ReadyCommand};
use tessera_curation::{FoundOriginals, Skipped, first_skipped};
use tessera_interface::message::{CustomCommandRun, WorkerEvent};
use tessera_model::{Failure, SafeText, SelectionItem};
use tokio::sync::mpsc;

use crate::{
    state::write_selection,
    subprocess::{self, start_problem},
    worker::handed_over_files::HandedOverFiles,
};

/// How much of the end of the messages of a failed command is read.
const MESSAGE_BYTES: u64 = 4 << 10;

/// Replaces the placeholders of a command. `found` are the originals, if the command needs them.
pub(super) fn prepare(
    run: &CustomCommandRun,
    found: Option<FoundOriginals>,
    files: &HandedOverFiles,
) -> Result<ReadyCommand, Failure> {
    let CustomCommandRun { command, dataset, selection, tessera } = run;
    let paths = found.map_or_else(|| Ok(Vec::new()), whole)?;
    let mut values = PlaceholderValues {
        dataset: dataset.to_string(),
        tessera: tessera.to_string(),
        ..Default::default()
    };
    let failed = |error: io::Error| {
        Failure::local(format!("cannot write the files for the command: {error}"))
    };
    if command.uses(Placeholder::List) {
        let mut list = Vec::new();
        for path in &paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        values.list = files.write("files", &list).map_err(failed)?;
    }
    if command.uses(Placeholder::Selection) {
        let document = format!("{:#}\n", write_selection(*dataset, selection));
        values.selection = files.write("selection.json", document.as_bytes()).map_err(failed)?;
    }
    values.ids = selection.items().iter().flat_map(ids).collect();
    values.paths = paths;
    Ok(command.ready(&values))
}

fn ids(item: &SelectionItem) -> Vec<String> {
    match item {
        SelectionItem::Media(media) => media.iter().map(ToString::to_string).collect(),
        SelectionItem::Cluster { cluster, .. } => vec![cluster.to_string()],
    }
}

/// Returns the paths of all originals. Fails if one of the media items has no file on this machine, or no longer,
/// because the command would act on an incomplete list.
fn whole(found: FoundOriginals) -> Result<Vec<PathBuf>, Failure> {
    let mut refused = found.refused;
    let is_gone = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let gone = found.originals.iter().map(|it| &it.path).filter(|path| is_gone(path));
    refused.extend(gone.map(|path| Skipped::new(path.clone(), "it is gone")));
    if let Some(first) = first_skipped(&refused).first() {
        let sentence = format!("the command needs every file of the selection: {first}");
        return Err(Failure::local(sentence).with_remedy("Exclude it from the selection"));
    }
    if found.originals.is_empty() {
        return Err(Failure::local("the selection has no files"));
    }
    let mut paths: Vec<PathBuf> = found.originals.into_iter().map(|it| it.path).collect();
    // All frames of a video are in one file.
    let mut known = HashSet::new();
    paths.retain(|path| known.insert(path.clone()));
    Ok(paths)
}

/// Starts a command without the terminal. A failure after the start is reported as a warning.
pub(super) fn start(
    command: &ReadyCommand,
    events: mpsc::UnboundedSender<WorkerEvent>,
) -> Result<(), Failure> {
    let failed =
        |error: io::Error| Failure::local(format!("{}: {}", command.name, start_problem(&error)));
    let (program, arguments) = command.words.split_first().ok_or_else(Failure::internal_error)?;
    // A program that outlives this one can go on writing to a file, but not to a pipe.
    let messages = tempfile::tempfile().map_err(failed)?;
    let mut child = subprocess::command(program);
    child.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    child.stderr(messages.try_clone().map_err(failed)?);
    let child = child.spawn().map_err(failed)?;
    let name = command.name.clone();
    thread::spawn(move || {
        if let Some(problem) = wait(child, messages) {
            // A send fails only while the program is ending.
            let _ =
                events.send(WorkerEvent::Warning(SafeText::detail(&format!("{name}: {problem}"))));
        }
    });
    Ok(())
}

/// Waits for the end of a command. Returns why it failed, with its last message.
fn wait(mut child: Child, mut messages: fs::File) -> Option<String> {
    let status = match child.wait() {
        Ok(status) if status.success() => return None,
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let mut end = Vec::new();
    let read = messages.seek(SeekFrom::End(0)).and_then(|length| {
        messages.seek(SeekFrom::Start(length.saturating_sub(MESSAGE_BYTES)))?;
        messages.take(MESSAGE_BYTES).read_to_end(&mut end)
    });
    let text = String::from_utf8_lossy(&end);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).filter(|_| read.is_ok());
    Some(last.map_or_else(|| status.clone(), |last| format!("{status}: {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(words: &[&str]) -> ReadyCommand {
        let words = words.iter().map(Into::into).collect();
        ReadyCommand { name: SafeText::name("Mine"), words }
    }

    #[tokio::test]
    async fn a_failure_after_the_start_is_reported_with_the_last_message() {
        let (sender, mut received) = mpsc::unbounded_channel();
        let script = "echo first >&2; echo 'no \u{1b}[31mspace' >&2; echo >&2; exit 3";
        start(&ready(&["sh", "-c", script]), sender.clone()).unwrap();
        let Some(WorkerEvent::Warning(text)) = received.recv().await else { panic!() };
        assert_eq!(text.as_str(), "Mine: exit status: 3: no ␛[31mspace");
        let failure = start(&ready(&["no-such-program"]), sender).unwrap_err();
        assert!(failure.to_string().contains("not in PATH"), "{failure}");
        assert!(received.recv().await.is_none());
    }

    #[test]
    fn a_command_gets_every_file_or_does_not_run() {
        let refused = vec![Skipped::new("/p/a.tar".into(), "it is inside an archive")];
        let found = FoundOriginals { refused, ..FoundOriginals::default() };
        let failure = whole(found).unwrap_err();
        assert!(failure.to_string().contains("/p/a.tar: it is inside an archive"), "{failure}");
        assert!(whole(FoundOriginals::default()).is_err());
        let gone = tessera_curation::Original {
            path: "/p/gone.jpg".into(),
            folder: "/p".into(),
            content: tessera_curation::FileContent { size: 1, modified: 0, hash: None },
            sidecars: Vec::new(),
            shared_sidecars: Vec::new(),
            pair: Vec::new(),
        };
        let found = FoundOriginals { originals: vec![gone], ..FoundOriginals::default() };
        let failure = whole(found).unwrap_err();
        assert!(failure.to_string().contains("/p/gone.jpg: it is gone"), "{failure}");
    }
}
