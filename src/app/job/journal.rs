//! Jobs over restarts: what is written down of each, and how it goes on in the next run.

use super::{Course, Job, Stage};
use crate::{
    app::{App, Effect, Level, Remote},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    Book, Entry, Failure, FailureKind, JobRecord, SafeText, Standing, job::make_room,
};

impl App {
    /// The jobs of earlier runs are asked for once.
    pub(in crate::app) fn jobs_to_recall(&self) -> Option<Book> {
        self.jobs.recalled.due(None).map(|_| Book::Jobs)
    }

    /// The jobs of earlier runs came: those at work are followed on.
    pub(in crate::app) fn jobs_recalled(&mut self, answer: Result<Option<Entry>, Failure>) {
        let entry = match answer {
            Ok(entry) => entry,
            Err(failure) => {
                self.notices.fail(self.now, &failure);
                return self.jobs.recalled.fail(self.now, failure);
            }
        };
        self.jobs.recalled.succeed(self.now, ());
        self.store.jobs.retain(|_, job| !matches!(job.stage, Stage::Elsewhere(_)));
        let Some(Entry::Jobs { ours, elsewhere }) = entry else { return };
        let mut back = Vec::new();
        for record in ours {
            back.push(self.resume(record, false));
        }
        for record in elsewhere {
            self.resume(record, true);
        }
        if let Some(words) = self.welcome_back(&back) {
            self.notices.add(self.now, Level::Success, words);
        }
        self.store.datasets.invalidate();
    }

    fn resume(&mut self, record: JobRecord, elsewhere: bool) -> JobId {
        let id = self.new_job((record.dataset, record.dataset_name), record.work);
        if let Some(job) = self.store.jobs.get_mut(&id) {
            (job.started, job.ended) = (record.started, record.ended);
            job.looked_at = true;
            if matches!(record.standing, Standing::Accepted) {
                job.course = Some(Course::resumed(record.started));
            }
            let export = job.export().is_some();
            job.stage = match (elsewhere, resumed(record.standing, export)) {
                (true, stage) => Stage::Elsewhere(stage.task()),
                (false, stage) => stage,
            };
        }
        id
    }

    /// What is told of the jobs from last time.
    fn welcome_back(&self, back: &[JobId]) -> Option<String> {
        let jobs = || back.iter().filter_map(|id| self.store.jobs.get(id));
        let count = |is: fn(&&Job) -> bool| jobs().filter(is).count();
        let parts = [
            (count(|job| job.is_active()), "still running"),
            (
                count(|job| matches!(job.stage, Stage::Completed(_))),
                "finished: d asks for a new link",
            ),
            (count(|job| matches!(job.stage, Stage::Uncertain(_))), "may have started"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let all = if back.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", back.len()) };
        (!parts.is_empty()).then(|| format!("{all} from last time: {}", parts.join(", ")))
    }

    /// Writes down what has changed, before anything else of this step is done (M20).
    pub(in crate::app) fn keep_jobs(&mut self, effects: &mut Vec<Effect>) {
        if self.jobs.recalled.value().is_none() && self.jobs.recalled.failure().is_none() {
            return;
        }
        let records = self.records();
        if records == self.jobs.kept {
            return;
        }
        self.jobs.kept.clone_from(&records);
        let entry = Entry::Jobs { ours: records, elsewhere: Vec::new() };
        let ticket = self.tickets.open(Lane::Keep(Book::Jobs), self.now);
        effects.insert(0, Effect::Send(ticket, Request::Keep(entry)));
    }

    fn records(&self) -> Vec<JobRecord> {
        let mut records: Vec<JobRecord> = self.store.jobs.values().filter_map(record).collect();
        make_room(&mut records);
        records
    }
}

/// What of a job is written down; one that another copy follows is written by that one.
fn record(job: &Job) -> Option<JobRecord> {
    let words = |failure: &Failure| SafeText::detail(&failure.to_string());
    let standing = match &job.stage {
        Stage::Queued(_) => Standing::Queued,
        Stage::Starting | Stage::Sending(..) => Standing::Sent,
        Stage::Following => Standing::Accepted,
        Stage::Running(task, _) => Standing::Running(*task),
        Stage::Completed(task) | Stage::Downloading(task, ..) => Standing::Completed(*task),
        Stage::Downloaded(archive) => Standing::Downloaded(archive.clone()),
        Stage::Done(word) => Standing::Done(word.clone()),
        Stage::Failed(failure) => Standing::Failed(words(failure)),
        Stage::Uncertain(failure) => Standing::Uncertain(words(failure)),
        Stage::Unwatched(task) => Standing::Unwatched(*task),
        Stage::Elsewhere(_) => return None,
    };
    Some(JobRecord {
        started: job.started,
        ended: job.ended,
        dataset: job.dataset,
        dataset_name: job.dataset_name.clone(),
        work: job.work.clone(),
        standing,
    })
}

/// How a job goes on that stood so when the program ended.
fn resumed(standing: Standing, export: bool) -> Stage {
    let told = |words: SafeText| Failure::new(FailureKind::Local, words);
    match standing {
        Standing::Queued => Stage::Failed(
            Failure::new(FailureKind::Local, "the program ended before it was sent")
                .remedy("Add the media again"),
        ),
        Standing::Sent => {
            let remedy = if export {
                "Look at the exports of the service, or start it again"
            } else {
                "Look at the status of the dataset before you send it again"
            };
            let sentence = "the program ended before the service answered";
            Stage::Uncertain(Failure::new(FailureKind::NoAnswer, sentence).remedy(remedy))
        }
        Standing::Running(task) => Stage::Running(task, Remote::default()),
        Standing::Accepted => Stage::Following,
        Standing::Completed(task) => Stage::Completed(task),
        Standing::Downloaded(archive) => Stage::Downloaded(archive),
        Standing::Done(word) => Stage::Done(word),
        Standing::Failed(words) => Stage::Failed(told(words)),
        Standing::Uncertain(words) => Stage::Uncertain(told(words)),
        Standing::Unwatched(task) => Stage::Unwatched(task),
    }
}
