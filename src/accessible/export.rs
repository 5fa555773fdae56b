//! Waits for operations; announces each change, and a heartbeat after 30 seconds without one.

use std::{io, time::Duration};

use super::{
    sentences,
    session::{AccessibleSession, MenuActionError},
};
use tessera_client::ExistingFile;
use tessera_model::{
    ArchiveName, ClusterId, Dataset, DatasetId, ExportFormat, ExportSpec, ExportTask, ExportTaskId,
    Failure, Search, SelectionItem, polling::PollTarget, text::count_with_noun,
};

const HEARTBEAT: Duration = Duration::from_secs(30);

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
    pub(super) async fn watch_datasets(&mut self) -> Result<(), MenuActionError> {
        let (mut progress, mut failures) = (ProgressStatus::new(), 0);
        loop {
            let wait = self.cadence.interval(PollTarget::BusyDatasets, failures);
            match self.client.list_datasets().await {
                Ok((list, _)) => {
                    failures = 0;
                    let describe =
                        |it: &Dataset| format!("{} is {}", it.name, sentences::status(it));
                    let states: Vec<String> = list.iter().map(describe).collect();
                    if let Some(line) = progress.next_line(states.join(", "), wait) {
                        self.announcer.status(line)?;
                    }
                    if !list.iter().any(|dataset| dataset.status.is_busy()) {
                        if let Some(open) = &mut self.open
                            && let Some(now) = list.into_iter().find(|it| it.id == open.dataset.id)
                        {
                            open.dataset = now;
                        }
                        return Ok(self.announcer.status("no operation is running")?);
                    }
                }
                Err(failure) if failure.is_connection_failure() => {
                    failures += 1;
                    if let Some(line) = progress.next_line(format!("no response: {failure}"), wait)
                    {
                        self.announcer.error(line)?;
                    }
                }
                Err(failure) => return Err(failure.into()),
            }
            tokio::time::sleep(wait).await;
        }
    }

    pub(super) async fn export(&mut self) -> Result<(), MenuActionError> {
        let Some(open) = &self.open else { return Ok(()) };
        let (dataset, name) = (open.dataset.id, open.dataset.name.clone());
        let selected_count =
            count_with_noun(self.selected.len(), "selected cluster", "selected clusters");
        self.announcer.item("1 the whole dataset")?;
        self.announcer.item(format!("2 the {selected_count}"))?;
        let choice = self.announcer.prompt_choice("Export what?", 2).await?;
        let is_selection = choice.ok_or(MenuActionError::Cancelled)? == 1;
        if is_selection && self.selected.is_empty() {
            return Err(MenuActionError::Error(
                "nothing is selected; select a result first".into(),
            ));
        }
        let images = self.announcer.prompt("With the images? Type y or n").await?;
        let include_images = images.ok_or(MenuActionError::Cancelled)?.starts_with(['y', 'Y']);
        let (file_name, format) = (ArchiveName::new(name.as_str()), ExportFormat::Parquet);
        let target = self.downloads.join(file_name.as_str());
        let task = if is_selection {
            let item = |(&cluster, search): (&ClusterId, &Search)| SelectionItem::Cluster {
                cluster,
                entity: search.entity,
                filters: search.filters.clone(),
                exclude: Vec::new(),
            };
            let items: Vec<SelectionItem> = self.selected.iter().map(item).collect();
            self.client.start_selective_export(dataset, format, include_images, &items).await?
        } else {
            let spec = ExportSpec { file_name, format, include_images };
            self.client.start_export(dataset, &spec).await?
        };
        let task = self.wait_for_export(dataset, task).await?;
        let target = (target.as_path(), ExistingFile::Keep);
        let archive = self.client.download((dataset, task), target, &mut |_, _| {}).await?;
        let (path, bytes, entries) = (archive.path.display(), archive.bytes, archive.entries);
        self.announcer
            .status(format!("archive {path}: {bytes} bytes, {entries} entries verified"))?;
        Ok(())
    }

    async fn wait_for_export(
        &mut self,
        dataset: DatasetId,
        mut task: ExportTask,
    ) -> Result<ExportTaskId, MenuActionError> {
        if let Some(failure) = task.failure() {
            return Err(failure.into());
        }
        let Self { client, announcer, cadence, .. } = self;
        let line = |task: &ExportTask| {
            let percent = task.progress.map_or_else(String::new, |it| format!(" {it} percent"));
            format!("export {}{percent}", task.state.as_str())
        };
        let (mut progress, mut age, mut failures) = (ProgressStatus::new(), Duration::ZERO, 0);
        let id = task.id;
        let pause = async |response: Result<ExportTask, Failure>| {
            match response {
                Ok(now) => (task, failures) = (now, 0),
                Err(_) => failures += 1,
            }
            let wait = cadence.interval(PollTarget::Export(age), failures);
            if let Some(line) = progress.next_line(line(&task), wait) {
                announcer.status(line)?;
            }
            tokio::time::sleep(wait).await;
            age += wait;
            Ok::<_, io::Error>(())
        };
        let ended = client.follow_export(dataset, id, pause).await??;
        self.announcer.status(line(&ended))?;
        ended.failure().map_or(Ok(id), |failure| Err(failure.into()))
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
