//! Work of the service, followed to its end: a line for each change, and a sign of life when
//! nothing has changed for half a minute.

use std::{io, time::Duration};

use super::{Talk, reading};
use tessera_client::Existing;
use tessera_model::{
    ArchiveName, ExportFormat, ExportSpec, ExportState, ExportTask, SelectionItem, cadence::Watch,
};

/// Longest silence while something is followed.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// What was told last, and how long ago.
struct Told {
    words: String,
    silent: Duration,
}

impl Told {
    fn nothing() -> Self {
        Self { words: String::new(), silent: Duration::ZERO }
    }

    /// What is to be told now, if anything, after a wait.
    fn next(&mut self, words: String, waited: Duration) -> Option<String> {
        self.silent += waited;
        if words != self.words {
            (self.words, self.silent) = (words.clone(), Duration::ZERO);
            return Some(words);
        }
        (self.silent >= HEARTBEAT).then(|| {
            self.silent = Duration::ZERO;
            format!("still {words}")
        })
    }
}

impl Talk {
    /// Follows the datasets until none of them moves.
    pub(super) async fn watch(&mut self) -> io::Result<()> {
        let (mut told, mut failures) = (Told::nothing(), 0);
        loop {
            let wait = self.cadence.interval(Watch::MovingDatasets, failures);
            match self.client.datasets().await {
                Ok((list, _)) => {
                    failures = 0;
                    let words: Vec<String> = list
                        .iter()
                        .map(|dataset| format!("{} is {}", dataset.name, reading::status(dataset)))
                        .collect();
                    if let Some(words) = told.next(words.join(", "), wait) {
                        self.voice.status(words)?;
                    }
                    if !list.iter().any(|dataset| dataset.status.is_moving()) {
                        let open = self.open.as_mut();
                        if let Some(open) = open
                            && let Some(now) = list.into_iter().find(|it| it.id == open.dataset.id)
                        {
                            open.dataset = now;
                        }
                        return self.voice.status("nothing moves");
                    }
                }
                Err(failure) if failure.is_connection() => {
                    failures += 1;
                    if let Some(words) = told.next(format!("without an answer: {failure}"), wait) {
                        self.voice.error(words)?;
                    }
                }
                Err(failure) => return self.voice.error(failure),
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Exports the dataset or what is marked, follows it, and fetches the archive.
    pub(super) async fn export(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let (dataset, name) = (open.dataset.id, open.dataset.name.clone());
        let marked = reading::number(self.marks.len() as u64, "marked cluster");
        self.voice.item("1 the whole dataset")?;
        self.voice.item(format!("2 the {marked}"))?;
        let Some(what) = self.voice.choose("Export what?", 2).await? else { return Ok(()) };
        if what == 1 && self.marks.is_empty() {
            return self.voice.error("nothing is marked; mark a result first");
        }
        let Some(images) = self.voice.ask("With the images? Type y or n").await? else {
            return Ok(());
        };
        let include_images = images.starts_with(['y', 'Y']);
        let (file_name, format) = (ArchiveName::new(name.as_str()), ExportFormat::Parquet);
        let target = self.downloads.join(file_name.as_str());
        let started = if what == 0 {
            let spec = ExportSpec { file_name, format, include_images };
            self.client.start_export(dataset, &spec).await
        } else {
            let items: Vec<SelectionItem> = self
                .marks
                .iter()
                .map(|(&cluster, search)| SelectionItem::Cluster {
                    cluster,
                    entity: search.entity,
                    filters: search.filters.clone(),
                    exclude: Vec::new(),
                })
                .collect();
            self.client.start_selective_export(dataset, format, include_images, &items).await
        };
        let Some(task) = self.voice.heard(started)? else { return Ok(()) };
        let Some(task) = self.follow(task).await? else { return Ok(()) };
        let archive = self
            .client
            .download((dataset, task.id), (&target, Existing::Kept), &mut |_, _| {})
            .await;
        let Some(archive) = self.voice.heard(archive)? else { return Ok(()) };
        let entries = archive.entries;
        let path = archive.path.display();
        self.voice
            .status(format!("archive {path}: {} bytes, {entries} entries verified", archive.bytes))
    }

    /// Follows an export until it can be fetched; `None` when it cannot.
    async fn follow(&mut self, mut task: ExportTask) -> io::Result<Option<ExportTask>> {
        let Some(dataset) = self.open.as_ref().map(|open| open.dataset.id) else { return Ok(None) };
        let (mut told, mut age, mut failures) = (Told::nothing(), Duration::ZERO, 0);
        loop {
            let wait = self.cadence.interval(Watch::Export(age), failures);
            let percent = task.progress.map_or_else(String::new, |it| format!(" {it} percent"));
            if let Some(words) = told.next(format!("export {}{percent}", task.state.word()), wait) {
                self.voice.status(words)?;
            }
            match &task.state {
                ExportState::Completed => return Ok(Some(task)),
                ExportState::Failed(word) => {
                    let message = task.message.map_or_else(String::new, |it| format!(": {it}"));
                    self.voice.error(format!("the export ended {word}{message}"))?;
                    return Ok(None);
                }
                ExportState::Running(_) => {}
            }
            tokio::time::sleep(wait).await;
            age += wait;
            match self.client.export_status(dataset, task.id).await {
                Ok(now) => (task, failures) = (now, 0),
                Err(failure) if failure.is_connection() => failures += 1,
                Err(failure) => return self.voice.error(failure).map(|()| None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p69_a_line_for_each_change_and_a_sign_of_life_in_between() {
        let (mut told, second) = (Told::nothing(), Duration::from_secs(1));
        let mut lines = Vec::new();
        for at in 0..95 {
            let words = if at < 10 { "export RUNNING" } else { "export PACKING" };
            lines.extend(told.next(words.to_owned(), second).map(|words| (at, words)));
        }
        let lines: Vec<(i32, &str)> =
            lines.iter().map(|(at, words)| (*at, words.as_str())).collect();
        let still = "still export PACKING";
        let expected = [(0, "export RUNNING"), (10, "export PACKING"), (40, still), (70, still)];
        assert_eq!(lines, expected);
    }
}
