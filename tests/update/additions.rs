//! Tests additions of media and reindexes: they are checked, sent, queued, rejected and followed.

use tessera_config::{DeploymentKind, Destination};
use tessera_interface::{
    app::{
        Effect, JobState,
        overlay::add_media::{AddMediaField, AddMediaForm, SourceCheck},
    },
    message::{JobId, Lane, Payload, Request},
};
use tessera_model::{Dataset, FailureKind, MediaAddition, MediaSource, Preflight, Status};
use tessera_wire::add_media::read_accepted;

use super::jobs::JOB;
use crate::support::desk::{Desk, dataset, page};

pub(super) fn images(count: u64, status: &str) -> Payload {
    let list = vec![Dataset { n_images: Some(count), ..dataset(1, Status::parse(status)) }];
    Payload::Datasets(list, 0)
}

/// Makes the next poll of the datasets return this.
fn poll_returns(desk: &mut Desk, count: u64, status: &str) {
    desk.wait(2);
    if !desk.requests().contains(&&Request::Datasets) {
        desk.wait(20);
    }
    desk.answer(Lane::Datasets, images(count, status));
}

/// Fills in the form for files, previews it and sends it.
fn add_media(desk: &mut Desk) {
    desk.press("A");
    type_and_add(desk);
}

fn type_and_add(desk: &mut Desk) {
    desk.type_text("'/data/my new' ~/x.jpg");
    desk.press("enter");
    let found = Preflight { images: 3, bytes: 4_000, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found));
    desk.press("enter");
}

fn files() -> MediaAddition {
    let paths = vec!["/data/my new".into(), "/home/me/x.jpg".into()];
    MediaAddition { auto_reindex: true, ..MediaAddition::new(MediaSource::Files(paths)) }
}

#[test]
fn an_addition_is_previewed_and_then_sent_unchanged() {
    let mut desk = Desk::with_clusters(3);
    desk.press("A");
    desk.type_text("'/data/my new' ~/x.jpg");
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::Preflight(files().source)]);
    desk.press("enter");
    assert_eq!(desk.requests().len(), 1, "a look is not polled for twice");
    let found = Preflight { images: 3, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found));
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, files())]);
    assert!(desk.app.overlay().is_none());
}

#[test]
fn a_source_without_media_is_not_sent() {
    let mut desk = Desk::with_clusters(3);
    desk.press("A");
    desk.type_text("/empty");
    desk.press("enter");
    desk.answer(Lane::Preflight, Payload::Preflight(Preflight::default()));
    desk.press("enter");
    assert!(desk.requests().is_empty() && desk.app.overlay().is_some());
}

#[test]
fn the_check_of_a_source_does_not_stay_with_another_one() {
    let mut desk = Desk::with_clusters(3);
    let check = |desk: &Desk| match desk.app.dialog::<AddMediaForm>() {
        Some(form) => form.check.clone(),
        None => unreachable!("the form went"),
    };
    desk.press("A");
    desk.type_text("/files");
    desk.press("enter");
    let found = Preflight { images: 3, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found.clone()));
    let files = MediaSource::Files(vec!["/files".into()]);
    assert_eq!(check(&desk), SourceCheck::Done(files, found));
    desk.press("up left tab");
    assert_eq!(check(&desk), SourceCheck::None);
    desk.type_text("s3://bucket/new/");
    desk.press("enter");
    let storage = MediaSource::Storage("s3://bucket/new/".into());
    assert_eq!(check(&desk), SourceCheck::NotPossible(storage));
    desk.type_text("2/");
    assert_eq!(check(&desk), SourceCheck::None);
    assert!(desk.requests().is_empty());
}

#[test]
fn only_the_selected_source_is_sent() {
    let mut desk = Desk::with_clusters(3);
    desk.press("A");
    desk.type_text("/files");
    desk.press("up left tab");
    desk.type_text("s3://bucket/new/");
    desk.press("tab space space tab");
    desk.type_text("arn:aws:iam::123456789012:role/reader");
    desk.press("tab tab");
    desk.type_text("x");
    desk.press("enter");
    assert!(desk.requests().is_empty(), "a count that is no number is refused at its field");
    let Some(form) = desk.app.dialog::<AddMediaForm>() else { unreachable!("the form went") };
    assert_eq!(form.error.as_ref().map(|trouble| trouble.0), Some(AddMediaField::Images));
    desk.press("backspace 9 enter");
    assert!(desk.requests().is_empty(), "the first Enter shows what will be added");
    desk.press("enter");
    let addition = MediaAddition {
        auto_reindex: true,
        assume_role: Some("arn:aws:iam::123456789012:role/reader".into()),
        batch_images: Some(9),
        ..MediaAddition::new(MediaSource::Storage("s3://bucket/new/".into()))
    };
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

#[test]
fn an_addition_is_followed_to_partial_index_with_its_counts() {
    let mut desk = Desk::with_clusters(3);
    desk.press("A down right up");
    type_and_add(&mut desk);
    desk.answer(Lane::Upload(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    desk.answer(Lane::Datasets, images(240, "READY"));
    assert!(
        desk.app.jobs().get(JOB).unwrap().is_active(),
        "READY right after the start is not the end"
    );
    poll_returns(&mut desk, 241, "READ ONLY");
    assert_eq!(desk.app.jobs().get(JOB).unwrap().label(), "READ ONLY");
    poll_returns(&mut desk, 243, "PARTIAL INDEX");
    assert_eq!(desk.app.jobs().get(JOB).unwrap().label(), "PARTIAL INDEX");
    assert!(!desk.app.jobs().get(JOB).unwrap().is_active());
    assert_eq!(
        desk.notice(),
        "set-1: added 3 media items; the dataset is PARTIAL INDEX: R reindexes it"
    );
}

#[test]
fn a_reindex_is_confirmed_and_followed() {
    let mut desk = Desk::with_clusters(3);
    desk.press("R");
    assert!(desk.notice().contains("Add media first"), "{}", desk.notice());
    desk.wait(20);
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    desk.press("R esc");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::Reindex(_))));
    desk.press("R enter");
    desk.answer(Lane::StartJob(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    for status in ["READ ONLY", "INDEXING"] {
        poll_returns(&mut desk, 240, status);
        assert!(desk.app.jobs().get(JOB).unwrap().is_active(), "{status}");
    }
    poll_returns(&mut desk, 240, "READY");
    assert!(matches!(desk.app.jobs().get(JOB).unwrap().state(), JobState::DatasetDone(_)));
    let words: Vec<&str> = desk
        .app
        .jobs()
        .get(JOB)
        .unwrap()
        .history()
        .transitions()
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(words, ["starting", "accepted", "READ ONLY", "INDEXING", "READY"]);
}

#[test]
fn the_dataset_status_shows_whether_a_lost_request_took_effect() {
    let mut desk = Desk::with_clusters(3);
    add_media(&mut desk);
    desk.fail(Lane::Upload(JOB), FailureKind::NoResponse);
    assert!(matches!(desk.app.jobs().get(JOB).unwrap().state(), JobState::Uncertain(_)));
    desk.answer(Lane::Datasets, images(240, "READ ONLY"));
    assert_eq!(desk.app.jobs().get(JOB).unwrap().state(), &JobState::DatasetRunning);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
}

#[test]
fn an_addition_to_a_busy_dataset_is_queued() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, images(240, "INDEXING"));
    desk.answer_page(page(0, 3));
    add_media(&mut desk);
    assert_eq!(desk.app.jobs().get(JOB).unwrap().label(), "queued here");
    poll_returns(&mut desk, 240, "READ ONLY");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
    poll_returns(&mut desk, 240, "READY");
    desk.take(|lane| *lane == Lane::Upload(JOB));
}

#[test]
fn a_rejected_addition_reopens_its_form() {
    for kind in [FailureKind::Invalid, FailureKind::Rejected] {
        let mut desk = Desk::with_clusters(3);
        add_media(&mut desk);
        desk.fail(Lane::Upload(JOB), kind);
        let Some(form) = desk.app.dialog::<AddMediaForm>() else { unreachable!("no form") };
        assert_eq!(form.location().value(), "'/data/my new' ~/x.jpg");
        assert!(form.error.as_ref().is_some_and(|(_, reason)| reason.as_str() == "it broke"));
    }
}

#[test]
fn quitting_before_media_are_sent_takes_a_second_key() {
    let mut desk = Desk::with_clusters(3);
    add_media(&mut desk);
    add_media(&mut desk);
    desk.press("q");
    assert!(!desk.other.contains(&Effect::Quit));
    let warning = "2 additions end before all media are sent; repeat this to leave anyway";
    assert_eq!(desk.notice(), warning);
    desk.press("q");
    assert!(desk.other.contains(&Effect::Quit));
}

#[test]
fn leaving_is_warned_about_for_each_addition_that_is_not_sent() {
    let leave = Effect::OpenDeployment(Destination::Sample);
    let mut desk = Desk::with_clusters(3);
    for addition in 0..2 {
        add_media(&mut desk);
        desk.press("P enter");
        assert!(!desk.other.contains(&leave), "{addition}");
        desk.fail(Lane::Upload(JobId(addition)), FailureKind::Forbidden);
    }
    add_media(&mut desk);
    desk.press("P enter P enter");
    assert!(desk.other.contains(&leave));
}

#[test]
fn on_premises_deployments_accept_only_server_paths() {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup_mut().deployment = DeploymentKind::Onprem;
    desk.press("A");
    desk.type_text("/mnt/new");
    desk.press("enter enter");
    let addition = MediaAddition::new(MediaSource::ServerPath("/mnt/new".into()));
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

#[test]
fn local_deployments_have_no_options_of_a_cluster() {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.press("A");
    let Some(form) = desk.app.dialog::<AddMediaForm>() else { panic!("no form") };
    let fields = form.fields();
    assert!(fields.contains(&AddMediaField::Reindex), "{fields:?}");
    assert!(AddMediaField::CLUSTER_OPTIONS.iter().all(|it| !fields.contains(it)), "{fields:?}");
}
