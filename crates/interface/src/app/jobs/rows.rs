//! Computes the rows of the jobs pane, and describes a job in words. A job has one row, and further rows for its
//! summary while rows are free.

use ratatui::layout::Rect;
use tessera_model::{
    JobKind, SafeText,
    task_tracker::TaskTracker,
    text::{count_with_noun, format_bytes, format_duration, group_digits, grouped_with_noun},
};
use unicode_width::UnicodeWidthStr;

use crate::{
    app::{
        App, Jobs, LoginState,
        pane::{inner_area, scroll_top},
    },
    drawing::wrapped_rows,
    job::{Job, JobState},
};

/// The width in columns from which a row has the id and the next poll.
const WIDE_COLUMNS: u16 = 100;
/// The columns before the summary, apart from names and states: the kind, the progress, and the id with the next poll.
const KIND_COLUMNS: u16 = 13;
const PROGRESS_COLUMNS: u16 = 16;
const ID_COLUMNS: u16 = 21;
/// If fewer columns than this are left beside the state, the summary is in the row below.
const MIN_SUMMARY_COLUMNS: u16 = 24;
/// The column at which a summary in the row below begins.
const INDENT: u16 = 3;
/// The columns of names and of states: in a narrow pane, and the maximum.
const MIN_TEXT_COLUMNS: u16 = 16;
const MAX_TEXT_COLUMNS: u16 = 32;

/// The parts that a row of the pane shows, with their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobColumns {
    width: u16,
    pub name: u16,
    pub state: u16,
}

impl JobColumns {
    /// Computes the columns. In a wide pane, names and states get the columns that the longest of
    /// them needs.
    pub fn new(jobs: &Jobs, width: u16) -> Self {
        let widest = |text: fn(&Job) -> String| {
            let needed = jobs.iter().map(|job| text(job).width()).max().unwrap_or(0);
            let needed = u16::try_from(needed).unwrap_or(u16::MAX);
            if width < WIDE_COLUMNS { 0 } else { needed }.clamp(MIN_TEXT_COLUMNS, MAX_TEXT_COLUMNS)
        };
        let name = widest(|job| job.dataset_name.to_string());
        Self { width, name, state: widest(job_state_text) }
    }

    pub fn shows_id(self) -> bool {
        self.width >= WIDE_COLUMNS
    }

    pub fn shows_progress(self) -> bool {
        self.width >= self.before_progress() + PROGRESS_COLUMNS
    }

    fn before_progress(self) -> u16 {
        KIND_COLUMNS + self.name + self.state + 2
    }

    /// Returns the row and the column at which the summary of a job begins.
    pub fn summary_place(self) -> (u16, u16) {
        let id = if self.shows_id() { ID_COLUMNS } else { 0 };
        let beside = self.before_progress() + PROGRESS_COLUMNS + id;
        if self.width >= beside + MIN_SUMMARY_COLUMNS { (0, beside) } else { (1, INDENT) }
    }
}

pub fn summary(login: &LoginState, job: &Job) -> String {
    if login.waits_for_login(job) { login_summary(job) } else { job_summary(job) }
}

/// The areas of the visible jobs, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRows {
    /// The index of the first visible job.
    pub top: usize,
    pub columns: JobColumns,
    pub areas: Vec<(usize, Rect)>,
}

impl JobRows {
    pub fn new(app: &App, pane: Rect) -> Self {
        let inner = inner_area(pane);
        let height = usize::from(inner.height);
        let top = scroll_top(0, app.jobs.cursor(), height);
        let columns = JobColumns::new(&app.jobs, inner.width);
        let (first, column) = columns.summary_place();
        let cells = inner.width.saturating_sub(column);
        let visible: Vec<&Job> = app.jobs.iter().rev().skip(top).take(height).collect();
        let mut y = inner.y;
        let areas = visible.iter().enumerate().map(|(place, job)| {
            let rows_below = u16::try_from(visible.len() - place - 1).unwrap_or(u16::MAX);
            let free = inner.bottom().saturating_sub(y).saturating_sub(rows_below);
            let needed = first.saturating_add(wrapped_rows(&summary(&app.login, job), cells));
            let area = Rect { y, height: needed.min(free).max(1), ..inner };
            y = area.bottom();
            (top + place, area)
        });
        let areas = areas.collect();
        Self { top, columns, areas }
    }

    pub fn index_at(&self, row: u16) -> Option<usize> {
        let hit = self.areas.iter().find(|(_, area)| (area.top()..area.bottom()).contains(&row));
        hit.map(|(index, _)| *index)
    }
}

pub fn job_state_text(job: &Job) -> String {
    match (job.state(), job.progress()) {
        (JobState::ExportRunning(..) | JobState::DatasetRunning, Some((percent, 100))) => {
            format!("{} {percent}%", job.label())
        }
        _ => job.label().to_owned(),
    }
}

/// Describes a job that cannot be followed without login, by its last known state.
pub(in crate::app) fn login_summary(job: &Job) -> String {
    format!("last {} · L opens the login", job_state_text(job))
}

pub fn job_summary(job: &Job) -> String {
    let state = match job.state() {
        JobState::ExportRunning(_, task) => match task.failure() {
            Some(failure) => format!("last known state; {failure}"),
            None => describe_work(job),
        },
        JobState::Starting | JobState::GettingModel(0, None) | JobState::Encoding(_, None) => {
            describe_work(job)
        }
        JobState::Queued(_) => {
            format!("waiting until the dataset is free · {}", describe_work(job))
        }
        JobState::DatasetRunning | JobState::DatasetDone(_) => {
            format!("{}{}", added_text(job), last_states(job))
        }
        JobState::ExportReady(_) => format!("{} · d downloads it", describe_work(job)),
        JobState::Encoding(done, Some(total)) => {
            let total = grouped_with_noun(*total, "picture", "pictures");
            format!("{} of {total} · {}", group_digits(*done), describe_work(job))
        }
        JobState::GettingModel(done, Some(total)) => {
            let (done, total) = (format_bytes(*done), format_bytes(*total));
            format!("{done} of {total} · {}", describe_work(job))
        }
        JobState::Uploading(done, Some(total)) | JobState::Downloading(_, done, Some(total)) => {
            format!("{} of {}", format_bytes(*done), format_bytes(*total))
        }
        JobState::Uploading(done, None)
        | JobState::GettingModel(done, None)
        | JobState::Downloading(_, done, None) => format_bytes(*done),
        JobState::Downloaded(archive, _) => {
            let path = SafeText::file_name(&archive.path.to_string_lossy());
            format!("{path} · {} verified", format_bytes(archive.bytes))
        }
        JobState::Failed(failure, _) | JobState::Uncertain(failure) => failure.to_string(),
        JobState::OtherInstance(saved) if saved.has_ended() => describe_work(job),
        JobState::OtherInstance(_) => {
            format!("followed by another instance · {}", describe_work(job))
        }
        JobState::Unwatched(_) => "continues on the service; r resumes watching".to_owned(),
    };
    let has_archive = matches!(job.state(), JobState::ExportReady(_) | JobState::Downloaded(..));
    let shortfall = job.export().filter(|_| has_archive).and_then(|it| it.shortfall.as_ref());
    let shortfall = shortfall.map(ToString::to_string);
    let left = job.history().time_left().map(|left| format!("{} left", format_duration(left)));
    let parts = [left, rate_text(job), Some(state), shortfall].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}

/// Returns how fast a job transfers bytes or encodes pictures.
pub(in crate::app) fn rate_text(job: &Job) -> Option<String> {
    let rate = job.history().rate()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes a second")]
    match job.state() {
        JobState::Uploading(..) | JobState::Downloading(..) | JobState::GettingModel(..) => {
            Some(format!("{}/s", format_bytes(rate as u64)))
        }
        JobState::Encoding(..) => {
            let digits = usize::from(rate < 10.0);
            Some(format!("{rate:.digits$} pictures/s"))
        }
        _ => None,
    }
}

fn added_text(job: &Job) -> String {
    let added = job.tracker().and_then(TaskTracker::added_media_count).filter(|added| *added > 0);
    let items = |added| count_with_noun(added, "media item", "media items");
    added.map_or_else(String::new, |added| format!("+{} · ", items(added)))
}

/// Returns the last two states. The detail of the job shows all states.
fn last_states(job: &Job) -> String {
    let states: Vec<&str> =
        job.history().transitions().iter().map(|step| step.state.as_str()).collect();
    states[states.len().saturating_sub(2)..].join(" → ")
}

fn describe_work(job: &Job) -> String {
    match &job.kind {
        JobKind::Export(export) => {
            let images = if export.spec.include_images { " + images" } else { "" };
            let content =
                export.content().map_or_else(String::new, |content| format!("{content} · "));
            let (name, format) = (export.spec.file_name.as_str(), export.spec.format.as_str());
            format!("{name} · {content}{format}{images}")
        }
        JobKind::AddMedia(addition) => addition.source.to_string(),
        JobKind::Reindex => "all clusters are computed again".to_owned(),
        JobKind::GetModel(job) => job.model.to_string(),
    }
}
