//! Tests getting a model: the list, the sizes, the job of the download, and the search that is repeated afterwards.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};
use tessera_config::DeploymentKind;
use tessera_interface::{
    app::{
        Event, Job, JobState,
        model_offer::is_offered,
        overlay::{command_list::CommandList, get_model::ModelConfirmation},
    },
    message::{JobId, Lane, Payload, Request, RequestProgress, Ticket, WorkerEvent},
};
use tessera_model::{
    Failure, IMPORTED_EMBEDDINGS, JobKind, JobRecord, ModelJob, ModelPlan, SafeText, SavedJobState,
    StateKey, StateValue, Status, Timestamp,
};
use tessera_wire::enrichment::read_enrichment;

use crate::support::app_harness::{AppHarness, dataset, page};

const JOB: JobId = JobId(0);

/// Searches captions in a local folder, without a match.
fn searching() -> AppHarness {
    let mut harness = AppHarness::new().opening_folder(vec![dataset(1, Status::Ready)]);
    harness.press("c");
    harness.type_text("dog");
    harness.press("enter");
    harness.answer_page(page(0, 0));
    harness
}

fn plan(files: usize) -> ModelPlan {
    ModelPlan { name: "starter".to_owned(), files, bytes: 43_000_000, note: "" }
}

/// Starts the download of the first model.
fn getting() -> AppHarness {
    let mut harness = searching();
    harness.press("g a enter");
    harness.answer(Lane::PlanModel, Payload::ModelPlanned(plan(5)));
    harness.press("enter");
    harness
}

/// Reports progress, and returns the ticket of the request.
fn progress(harness: &mut AppHarness, wanted: &Lane, done: u64, total: u64) -> Ticket {
    let (ticket, _) = harness.take(|lane| lane == wanted);
    let progress = RequestProgress { ticket: ticket.clone(), done, total: Some(total) };
    harness.happen(Event::Worker(WorkerEvent::Progress(progress)));
    ticket
}

fn job(harness: &AppHarness) -> &Job {
    harness.app.jobs().get(JOB).unwrap()
}

#[test]
fn nothing_is_downloaded_before_the_sizes_are_confirmed() {
    let mut harness = searching();
    harness.press("g a");
    assert!(harness.app.dialog::<CommandList>().unwrap().list.items.len() > 4);
    harness.press("enter");
    assert!(harness.requests().contains(&&Request::PlanModel("starter".to_owned())));
    assert!(harness.app.overlay().is_none());
    harness.answer(Lane::PlanModel, Payload::ModelPlanned(plan(5)));
    assert_eq!(harness.app.dialog::<ModelConfirmation>().unwrap().plan.bytes, 43_000_000);
    harness.press("esc");
    assert!(harness.app.jobs().is_empty());
    let is_download = |request: &&Request| matches!(request, Request::GetModel(_));
    assert!(!harness.requests().iter().any(is_download));
}

#[test]
fn the_search_is_repeated_when_the_media_are_encoded() {
    let mut harness = getting();
    let id = dataset(1, Status::Ready).id;
    assert!(harness.requests().contains(&&Request::GetModel("starter".to_owned())));
    let ticket = progress(&mut harness, &Lane::GetModel(JOB), 10, 100);
    assert_eq!((job(&harness).label(), job(&harness).progress()), ("downloading", Some((10, 100))));
    let folder = PathBuf::from("/models/starter");
    harness.respond(ticket, Ok(Payload::ModelFolder(folder.clone())));
    assert!(harness.requests().contains(&&Request::ApplyModel(id, folder)));
    let ticket = progress(&mut harness, &Lane::ApplyModel(JOB), 30, 240);
    assert_eq!((job(&harness).label(), job(&harness).progress()), ("encoding", Some((30, 240))));
    harness.respond(ticket, Ok(Payload::Dataset(Box::new(dataset(1, Status::Ready)))));
    assert!(matches!(job(&harness).state(), JobState::DatasetDone(_)));
    let is_search = |request: &&&Request| matches!(request, Request::Explore(_));
    assert_eq!(harness.requests().iter().filter(is_search).count(), 1);
    let is_enrichment = |(_, request): &(Ticket, Request)| *request == Request::Enrichment(id);
    assert!(harness.open.iter().any(is_enrichment));
}

#[test]
fn a_download_is_stopped_and_the_next_one_resumes_it() {
    let mut harness = getting();
    harness.press("4 x");
    assert_eq!(harness.cancelled, [Lane::GetModel(JOB)]);
    let JobState::Failed(failure, None) = job(&harness).state() else { panic!() };
    assert!(failure.to_string().contains("Get the model again"), "{failure}");
    harness.press("g a enter");
    harness.answer(Lane::PlanModel, Payload::ModelPlanned(plan(1)));
    harness.press("enter");
    assert!(harness.requests().contains(&&Request::GetModel("starter".to_owned())));
}

#[test]
fn encoding_goes_on_when_it_is_no_longer_watched() {
    let mut harness = getting();
    harness.answer(Lane::GetModel(JOB), Payload::ModelFolder(PathBuf::from("/models/starter")));
    harness.press("4 x");
    assert_eq!(harness.cancelled, [Lane::ApplyModel(JOB)]);
    assert_eq!(job(&harness).state(), &JobState::Unwatched(None));
    harness.press("r");
    assert_eq!(job(&harness).state(), &JobState::DatasetRunning);
}

#[test]
fn a_failure_is_a_sentence_in_the_job() {
    let mut harness = getting();
    let (ticket, _) = harness.take(|lane| *lane == Lane::GetModel(JOB));
    let sentence = "the hub gives no access to org/x without a token; set HF_TOKEN";
    harness.respond(ticket, Err(Failure::local(sentence)));
    let JobState::Failed(failure, None) = job(&harness).state() else { panic!() };
    assert_eq!(failure.to_string(), sentence);
    assert!(harness.notice().contains(sentence), "{}", harness.notice());
    let mut harness = searching();
    harness.press("g a enter");
    let (ticket, _) = harness.take(|lane| *lane == Lane::PlanModel);
    harness.respond(ticket, Err(Failure::local("cannot reach the hub")));
    assert!(harness.notice().contains("cannot reach the hub") && harness.app.jobs().is_empty());
}

#[test]
fn a_model_is_only_for_folders_of_this_machine() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("g a");
    assert!(harness.app.overlay().is_none());
    assert!(harness.notice().contains("folders of this machine"), "{}", harness.notice());
    let mut harness = getting();
    harness.press("g a");
    assert!(harness.app.overlay().is_none());
    assert!(harness.notice().contains("a model is being applied"), "{}", harness.notice());
}

#[test]
fn the_jobs_of_the_last_run_say_how_to_continue() {
    let record = |state, seconds| JobRecord {
        started_at: Timestamp::from_secs(seconds),
        ended_at: None,
        dataset: dataset(1, Status::Ready).id,
        dataset_name: SafeText::name("set-1"),
        kind: JobKind::GetModel(ModelJob { model: SafeText::name("starter") }),
        state,
    };
    let jobs = vec![record(SavedJobState::Sent, 1), record(SavedJobState::Accepted, 2)];
    let value = StateValue::Jobs { this_instance: jobs, other_instances: Vec::new() };
    let harness = AppHarness::keeping([(StateKey::Jobs, value)].into());
    let states: Vec<&JobState> = harness.app.jobs().iter().map(Job::state).collect();
    assert!(matches!(states[1], JobState::DatasetRunning), "{states:?}");
    let JobState::Failed(failure, None) = states[0] else { panic!("{states:?}") };
    assert!(failure.to_string().contains("the download resumes"), "{failure}");
}

/// Opens a local folder whose dataset has no model.
fn without_model(kept: BTreeMap<StateKey, StateValue>) -> AppHarness {
    with_models(kept, &json!({ "CAPTION_IMAGES": { "id": "space" } }))
}

fn with_models(kept: BTreeMap<StateKey, StateValue>, models: &Value) -> AppHarness {
    let mut harness = AppHarness::keeping(kept).opening_folder(vec![dataset(1, Status::Ready)]);
    let body = json!({ "dataset_enrichment_models": { "enrichment_models": models } });
    let id = dataset(1, Status::Ready).id;
    harness.answer(Lane::Enrichment(id), Payload::Enrichment(read_enrichment(&body)));
    harness
}

#[test]
fn a_dismissed_offer_stays_away() {
    let mut harness = without_model(BTreeMap::new());
    assert!(is_offered(&harness.app));
    harness.press("g A");
    assert!(!is_offered(&harness.app));
    assert_eq!(harness.kept.get(&StateKey::ModelOffer), Some(&StateValue::ModelOfferDismissed));
    let mut harness = without_model(harness.kept);
    assert!(!is_offered(&harness.app));
    harness.press("g A");
    assert!(harness.notice().contains("no model is offered"), "{}", harness.notice());
}

#[test]
fn a_model_is_offered_only_where_it_can_be_had_and_is_missing() {
    let mut harness = without_model(BTreeMap::new());
    harness.app.setup_mut().deployment = DeploymentKind::Hosted;
    assert!(!is_offered(&harness.app));
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("g a enter");
    harness.answer(Lane::PlanModel, Payload::ModelPlanned(plan(1)));
    harness.press("enter");
    assert!(!is_offered(&harness.app), "it is being downloaded");
    let harness = searching();
    assert!(!is_offered(&harness.app), "nothing is known about the models of the dataset");
    let embeddings = json!({ "IMAGE_ENCODING": { "id": IMPORTED_EMBEDDINGS } });
    let harness = with_models(BTreeMap::new(), &embeddings);
    assert!(!is_offered(&harness.app), "a model would take the place of imported embeddings");
}
