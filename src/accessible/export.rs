//! Waits for operations of the service. Announces each change, and a heartbeat after 30 seconds
//! without one.

use std::{io, time::Duration};

use super::{sentences, session::AccessibleSession};
use tessera_client::ExistingFile;
use tessera_model::{
    ArchiveName, ExportFormat, ExportSpec, ExportState, ExportTask, SelectionItem,
    polling::PollTarget, text::count_with_noun,
};

const HEARTBEAT: Duration = Duration::from_secs(30);

/// The last line, and the time since then.
struct ProgressStatus {
    last_line: String,
    unchanged_for: Duration,
}

impl ProgressStatus {
    fn new() -> Self {
        Self { last_line: String::new(), unchanged_for: Duration::ZERO }
    }

    /// Returns the line to announce after a wait, if there is one.
    fn next_line(&mut self, line: String, waited: Duration) -> Option<String> {
        self.unchanged_for += waited;
        if line != self.last_line {
            (self.last_line, self.unchanged_for) = (line.clone(), Duration::ZERO);
            return Some(line);
        }
        (self.unchanged_for >= HEARTBEAT).then(|| {
            self.unchanged_for = Duration::ZERO;
            format!("still {line}")
        })
    }
}

impl AccessibleSession {
    /// Watches the datasets until no operation is running.
    pub(super) async fn watch_datasets(&mut self) -> io::Result<()> {
        let (mut progress, mut failures) = (ProgressStatus::new(), 0);
        loop {
            let wait = self.cadence.interval(PollTarget::BusyDatasets, failures);
            match self.client.list_datasets().await {
                Ok((list, _)) => {
                    failures = 0;
                    let states: Vec<String> = list
                        .iter()
                        .map(|dataset| {
                            format!("{} is {}", dataset.name, sentences::status(dataset))
                        })
                        .collect();
                    if let Some(line) = progress.next_line(states.join(", "), wait) {
                        self.announcer.status(line)?;
                    }
                    if !list.iter().any(|dataset| dataset.status.is_busy()) {
                        let open = self.open.as_mut();
                        if let Some(open) = open
                            && let Some(now) = list.into_iter().find(|it| it.id == open.dataset.id)
                        {
                            open.dataset = now;
                        }
                        return self.announcer.status("no operation is running");
                    }
                }
                Err(failure) if failure.is_connection_failure() => {
                    failures += 1;
                    if let Some(line) = progress.next_line(format!("no response: {failure}"), wait)
                    {
                        self.announcer.error(line)?;
                    }
                }
                Err(failure) => return self.announcer.error(failure),
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Exports the dataset or the selection, waits for it, and downloads the archive.
    pub(super) async fn export(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let (dataset, name) = (open.dataset.id, open.dataset.name.clone());
        let selected_count =
            count_with_noun(self.selected.len(), "selected cluster", "selected clusters");
        self.announcer.item("1 the whole dataset")?;
        self.announcer.item(format!("2 the {selected_count}"))?;
        let Some(what) = self.announcer.prompt_choice("Export what?", 2).await? else {
            return Ok(());
        };
        if what == 1 && self.selected.is_empty() {
            return self.announcer.error("nothing is selected; select a result first");
        }
        let Some(images) = self.announcer.prompt("With the images? Type y or n").await? else {
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
                .selected
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
        let Some(task) = self.announcer.announce_failure(started)? else { return Ok(()) };
        let Some(task) = self.wait_for_export(task).await? else { return Ok(()) };
        let archive = self
            .client
            .download((dataset, task.id), (&target, ExistingFile::Keep), &mut |_, _| {})
            .await;
        let Some(archive) = self.announcer.announce_failure(archive)? else { return Ok(()) };
        let entries = archive.entries;
        let path = archive.path.display();
        self.announcer
            .status(format!("archive {path}: {} bytes, {entries} entries verified", archive.bytes))
    }

    /// Waits for an export. Returns `None` if it failed.
    async fn wait_for_export(&mut self, mut task: ExportTask) -> io::Result<Option<ExportTask>> {
        let Some(dataset) = self.open.as_ref().map(|open| open.dataset.id) else { return Ok(None) };
        let (mut progress, mut age, mut failures) = (ProgressStatus::new(), Duration::ZERO, 0);
        loop {
            let wait = self.cadence.interval(PollTarget::Export(age), failures);
            let percent = task.progress.map_or_else(String::new, |it| format!(" {it} percent"));
            if let Some(line) =
                progress.next_line(format!("export {}{percent}", task.state.as_str()), wait)
            {
                self.announcer.status(line)?;
            }
            match &task.state {
                ExportState::Completed => return Ok(Some(task)),
                ExportState::Failed(word) => {
                    let message = task.message.map_or_else(String::new, |it| format!(": {it}"));
                    self.announcer.error(format!("the export ended {word}{message}"))?;
                    return Ok(None);
                }
                ExportState::Running(_) => {}
            }
            tokio::time::sleep(wait).await;
            age += wait;
            match self.client.export_status(dataset, task.id).await {
                Ok(now) => (task, failures) = (now, 0),
                Err(failure) if failure.is_connection_failure() => failures += 1,
                Err(failure) => return self.announcer.error(failure).map(|()| None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_and_heartbeat_is_announced() {
        let (mut progress, second) = (ProgressStatus::new(), Duration::from_secs(1));
        let mut lines = Vec::new();
        for at in 0..95 {
            let line = if at < 10 { "export RUNNING" } else { "export PACKING" };
            lines.extend(progress.next_line(line.to_owned(), second).map(|line| (at, line)));
        }
        let lines: Vec<(i32, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
        let still = "still export PACKING";
        let expected = [(0, "export RUNNING"), (10, "export PACKING"), (40, still), (70, still)];
        assert_eq!(lines, expected);
    }
}
