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

use crate::support::desk::{Desk, dataset, page};

const JOB: JobId = JobId(0);

/// Searches captions in a local folder, without a match.
fn searching() -> Desk {
    let mut desk = Desk::new().opening_folder(vec![dataset(1, Status::Ready)]);
    desk.press("c");
    desk.type_text("dog");
    desk.press("enter");
    desk.answer_page(page(0, 0));
    desk
}

fn plan(files: usize) -> ModelPlan {
    ModelPlan { name: "starter".to_owned(), files, bytes: 43_000_000, note: "" }
}

/// Starts the download of the first model.
fn getting() -> Desk {
    let mut desk = searching();
    desk.press("g a enter");
    desk.answer(Lane::PlanModel, Payload::ModelPlanned(plan(5)));
    desk.press("enter");
    desk
}

/// Reports progress, and returns the ticket of the request.
fn progress(desk: &mut Desk, wanted: &Lane, done: u64, total: u64) -> Ticket {
    let (ticket, _) = desk.take(|lane| lane == wanted);
    let progress = RequestProgress { ticket: ticket.clone(), done, total: Some(total) };
    desk.happen(Event::Worker(WorkerEvent::Progress(progress)));
    ticket
}

fn job(desk: &Desk) -> &Job {
    desk.app.jobs().get(JOB).unwrap()
}

#[test]
fn nothing_is_downloaded_before_the_sizes_are_confirmed() {
    let mut desk = searching();
    desk.press("g a");
    assert!(desk.app.dialog::<CommandList>().unwrap().list.items.len() > 4);
    desk.press("enter");
    assert!(desk.requests().contains(&&Request::PlanModel("starter".to_owned())));
    assert!(desk.app.overlay().is_none());
    desk.answer(Lane::PlanModel, Payload::ModelPlanned(plan(5)));
    assert_eq!(desk.app.dialog::<ModelConfirmation>().unwrap().plan.bytes, 43_000_000);
    desk.press("esc");
    assert!(desk.app.jobs().is_empty());
    let is_download = |request: &&Request| matches!(request, Request::GetModel(_));
    assert!(!desk.requests().iter().any(is_download));
}

#[test]
fn the_search_is_repeated_when_the_media_are_encoded() {
    let mut desk = getting();
    let id = dataset(1, Status::Ready).id;
    assert!(desk.requests().contains(&&Request::GetModel("starter".to_owned())));
    let ticket = progress(&mut desk, &Lane::GetModel(JOB), 10, 100);
    assert_eq!((job(&desk).label(), job(&desk).progress()), ("downloading", Some((10, 100))));
    let folder = PathBuf::from("/models/starter");
    desk.respond(ticket, Ok(Payload::ModelFolder(folder.clone())));
    assert!(desk.requests().contains(&&Request::ApplyModel(id, folder)));
    let ticket = progress(&mut desk, &Lane::ApplyModel(JOB), 30, 240);
    assert_eq!((job(&desk).label(), job(&desk).progress()), ("encoding", Some((30, 240))));
    desk.respond(ticket, Ok(Payload::Dataset(Box::new(dataset(1, Status::Ready)))));
    assert!(matches!(job(&desk).state(), JobState::DatasetDone(_)));
    let is_search = |request: &&&Request| matches!(request, Request::Explore(_));
    assert_eq!(desk.requests().iter().filter(is_search).count(), 1);
    let is_enrichment = |(_, request): &(Ticket, Request)| *request == Request::Enrichment(id);
    assert!(desk.open.iter().any(is_enrichment));
}

#[test]
fn a_download_is_stopped_and_the_next_one_resumes_it() {
    let mut desk = getting();
    desk.press("4 x");
    assert_eq!(desk.cancelled, [Lane::GetModel(JOB)]);
    let JobState::Failed(failure, None) = job(&desk).state() else { panic!() };
    assert!(failure.to_string().contains("Get the model again"), "{failure}");
    desk.press("g a enter");
    desk.answer(Lane::PlanModel, Payload::ModelPlanned(plan(1)));
    desk.press("enter");
    assert!(desk.requests().contains(&&Request::GetModel("starter".to_owned())));
}

#[test]
fn encoding_goes_on_when_it_is_no_longer_watched() {
    let mut desk = getting();
    desk.answer(Lane::GetModel(JOB), Payload::ModelFolder(PathBuf::from("/models/starter")));
    desk.press("4 x");
    assert_eq!(desk.cancelled, [Lane::ApplyModel(JOB)]);
    assert_eq!(job(&desk).state(), &JobState::Unwatched(None));
    desk.press("r");
    assert_eq!(job(&desk).state(), &JobState::DatasetRunning);
}

#[test]
fn a_failure_is_a_sentence_in_the_job() {
    let mut desk = getting();
    let (ticket, _) = desk.take(|lane| *lane == Lane::GetModel(JOB));
    let sentence = "the hub gives no access to org/x without a token; set HF_TOKEN";
    desk.respond(ticket, Err(Failure::local(sentence)));
    let JobState::Failed(failure, None) = job(&desk).state() else { panic!() };
    assert_eq!(failure.to_string(), sentence);
    assert!(desk.notice().contains(sentence), "{}", desk.notice());
    let mut desk = searching();
    desk.press("g a enter");
    let (ticket, _) = desk.take(|lane| *lane == Lane::PlanModel);
    desk.respond(ticket, Err(Failure::local("cannot reach the hub")));
    assert!(desk.notice().contains("cannot reach the hub") && desk.app.jobs().is_empty());
}

#[test]
fn a_model_is_only_for_folders_of_this_machine() {
    let mut desk = Desk::with_clusters(3);
    desk.press("g a");
    assert!(desk.app.overlay().is_none());
    assert!(desk.notice().contains("folders of this machine"), "{}", desk.notice());
    let mut desk = getting();
    desk.press("g a");
    assert!(desk.app.overlay().is_none());
    assert!(desk.notice().contains("a model is being applied"), "{}", desk.notice());
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
    let desk = Desk::keeping([(StateKey::Jobs, value)].into());
    let states: Vec<&JobState> = desk.app.jobs().iter().map(Job::state).collect();
    assert!(matches!(states[1], JobState::DatasetRunning), "{states:?}");
    let JobState::Failed(failure, None) = states[0] else { panic!("{states:?}") };
    assert!(failure.to_string().contains("the download resumes"), "{failure}");
}

/// Opens a local folder whose dataset has no model.
fn without_model(kept: BTreeMap<StateKey, StateValue>) -> Desk {
    with_models(kept, &json!({ "CAPTION_IMAGES": { "id": "space" } }))
}

fn with_models(kept: BTreeMap<StateKey, StateValue>, models: &Value) -> Desk {
    let mut desk = Desk::keeping(kept).opening_folder(vec![dataset(1, Status::Ready)]);
    let body = json!({ "dataset_enrichment_models": { "enrichment_models": models } });
    let id = dataset(1, Status::Ready).id;
    desk.answer(Lane::Enrichment(id), Payload::Enrichment(read_enrichment(&body)));
    desk
}

#[test]
fn a_dismissed_offer_stays_away() {
    let mut desk = without_model(BTreeMap::new());
    assert!(is_offered(&desk.app));
    desk.press("g A");
    assert!(!is_offered(&desk.app));
    assert_eq!(desk.kept.get(&StateKey::ModelOffer), Some(&StateValue::ModelOfferDismissed));
    let mut desk = without_model(desk.kept);
    assert!(!is_offered(&desk.app));
    desk.press("g A");
    assert!(desk.notice().contains("no model is offered"), "{}", desk.notice());
}

#[test]
fn a_model_is_offered_only_where_it_can_be_had_and_is_missing() {
    let mut desk = without_model(BTreeMap::new());
    desk.app.setup_mut().deployment = DeploymentKind::Hosted;
    assert!(!is_offered(&desk.app));
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.press("g a enter");
    desk.answer(Lane::PlanModel, Payload::ModelPlanned(plan(1)));
    desk.press("enter");
    assert!(!is_offered(&desk.app), "it is being downloaded");
    let desk = searching();
    assert!(!is_offered(&desk.app), "nothing is known about the models of the dataset");
    let embeddings = json!({ "IMAGE_ENCODING": { "id": IMPORTED_EMBEDDINGS } });
    let desk = with_models(BTreeMap::new(), &embeddings);
    assert!(!is_offered(&desk.app), "a model would take the place of imported embeddings");
}
