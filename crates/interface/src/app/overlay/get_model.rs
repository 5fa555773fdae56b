//! Gets a model for a dataset of a local folder: lists the models, says what one downloads, and starts the job after a
//! confirmation. When the media are encoded, the search on screen is repeated.

use std::path::PathBuf;

use tessera_model::{
    AVAILABLE_MODELS, AvailableModel, Dataset, JobKind, ModelJob, ModelPlan,
    text::{count_with_noun, format_bytes},
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Jobs,
        overlay::{
            command_list::{CommandList, ListKind},
            pick_list::{Command, PickItem},
        },
    },
    drawing::wrapped_rows,
    job::{Job, JobDataset, JobId, JobState},
};

const COLUMNS: u16 = 76;

/// Says what is downloaded and encoded, and asks for confirmation.
#[derive(Clone, Debug)]
pub struct ModelConfirmation {
    pub dataset: JobDataset,
    pub media: Option<String>,
    pub plan: ModelPlan,
}

impl ModelConfirmation {
    /// Returns the lines of the dialog, the most important one first.
    fn lines(&self) -> Vec<String> {
        let ModelPlan { files, bytes, note, .. } = &self.plan;
        let bytes = format_bytes(*bytes);
        let first = match (*files, note.is_empty()) {
            (0, _) => "The model is on this machine already. Nothing is downloaded.".to_owned(),
            (_, false) => format!("Downloads {bytes}. {note}"),
            (files, true) => {
                format!("Downloads {}, {bytes}.", count_with_noun(files as u64, "file", "files"))
            }
        };
        let media = self.media.as_deref().unwrap_or("the media");
        vec![
            first,
            format!("Then encodes {media} of {}, and searches again.", self.dataset.name),
            "x in the jobs stops the download. The next one resumes it.".to_owned(),
        ]
    }
}

impl Dialog for ModelConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, true)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let columns = COLUMNS.min(screen.0);
        let cells = columns.saturating_sub(3);
        let rows = self.lines().into_iter().map(|line| wrapped_rows(&line, cells));
        (columns, rows.sum::<u16>() + 2)
    }

    fn hints(&self) -> &'static str {
        "Enter get the model   Esc close"
    }

    fn accept(self: Box<Self>, app: &mut App) {
        app.outbox.notify(Level::Success, format!("getting the model {}", self.plan.name));
        app.jobs.start_getting_model(self.dataset, self.plan.name, &mut app.outbox);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let lines = self.lines().iter().map(|text| SafeText::detail(text)).collect::<Vec<_>>();
        ctx.texts_dialog(area, &format!("Get the model {}", self.plan.name), &lines);
    }
}

/// Lists the models. The one that is best for a first try comes first.
pub fn open_list(app: &mut App) {
    let items = AVAILABLE_MODELS.iter().map(|model| {
        let AvailableModel { name, size, languages, license, tried, purpose } = model;
        let languages = if *languages == "none" { "no texts" } else { languages };
        PickItem::new(Command::PlanModel(name), name)
            .note(format!("{size} · {purpose} · {languages} · {license} · {tried}"))
    });
    let title = "Get a model: it finds pictures by what they show";
    let items = items.collect();
    CommandList::open(app, ListKind::Models, title, items);
}

/// Asks what a model would download.
pub fn plan(app: &mut App, name: &str) {
    app.outbox.notify(Level::Success, format!("asking for the files of {name}"));
    app.outbox.send(Lane::PlanModel, Request::PlanModel(name.to_owned()));
}

/// Applies a model to the dataset of its job after the download, or says why the download has failed.
pub fn downloaded(app: &mut App, id: JobId, folder: Result<PathBuf, Failure>) {
    match folder {
        Ok(folder) => app.jobs.apply_model(id, folder, &mut app.outbox),
        Err(failure) => {
            let fail = |job: &mut Job| job.model_received(Some(&failure));
            app.jobs.transition(id, fail, &mut app.outbox);
            app.outbox.notify_failure(&failure);
        }
    }
}

/// Repeats the searches after the media of a dataset were encoded, or says why the encoding has failed.
pub fn applied(app: &mut App, id: JobId, dataset: Result<Dataset, Failure>) {
    let finish = |job: &mut Job| job.encoding_finished(dataset.as_ref());
    app.jobs.transition(id, finish, &mut app.outbox);
    match dataset {
        Ok(dataset) => repeat_searches(app, &dataset),
        Err(failure) => app.outbox.notify_failure(&failure),
    }
}

pub(in crate::app) fn open_confirmation(app: &mut App, plan: ModelPlan) {
    let Some(dataset) = app.dataset() else { return };
    let media = dataset.media_text();
    let dataset = JobDataset { id: dataset.id, name: dataset.name.clone() };
    let confirmation = ModelConfirmation { dataset, media, plan };
    app.overlays.open_or_notify(confirmation, "the model", &mut app.outbox);
}

/// Repeats the searches of a dataset whose media are encoded now.
fn repeat_searches(app: &mut App, dataset: &Dataset) {
    app.service_data.enrichments.remove(&dataset.id);
    app.service_data.overviews.retain(|(of, _), _| *of != dataset.id);
    app.service_data.datasets.invalidate();
    app.reload_results(dataset.id, None);
    let text = format!("{}: pictures are found by what they show now", dataset.name);
    app.outbox.toast(text, &app.setup);
}

impl Jobs {
    fn start_getting_model(&mut self, dataset: JobDataset, model: String, outbox: &mut Outbox) {
        let kind = JobKind::GetModel(ModelJob { model: SafeText::name(&model) });
        let id = self.create(dataset, kind, outbox);
        if self.transition(id, Job::start_getting_model, outbox).is_some() {
            outbox.send(Lane::GetModel(id), Request::GetModel(model));
        }
    }

    /// Encodes the media of the job's dataset with the model that was downloaded.
    pub(in crate::app) fn apply_model(&mut self, id: JobId, folder: PathBuf, outbox: &mut Outbox) {
        let Some(dataset) = self.get(id).map(|job| job.dataset) else { return };
        if self.transition(id, |job| job.model_received(None), outbox).is_some() {
            outbox.send(Lane::ApplyModel(id), Request::ApplyModel(dataset, folder));
        }
    }

    /// Returns whether a model is being downloaded or applied.
    pub(in crate::app) fn is_getting_model(&self) -> bool {
        self.any_state(|state| matches!(state, JobState::GettingModel(..) | JobState::Encoding(..)))
    }
}
