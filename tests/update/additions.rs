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
use crate::support::app_harness::{AppHarness, dataset, page};

pub(super) fn images(count: u64, status: &str) -> Payload {
    let list = vec![Dataset { n_images: Some(count), ..dataset(1, Status::parse(status)) }];
    Payload::Datasets(list, 0)
}

/// Makes the next poll of the datasets return this.
fn poll_returns(harness: &mut AppHarness, count: u64, status: &str) {
    harness.wait(2);
    if !harness.requests().contains(&&Request::Datasets) {
        harness.wait(20);
    }
    harness.answer(Lane::Datasets, images(count, status));
}

/// Fills in the form for files, previews it and sends it.
fn add_media(harness: &mut AppHarness) {
    harness.press("A");
    type_and_add(harness);
}

fn type_and_add(harness: &mut AppHarness) {
    harness.type_text("'/data/my new' ~/x.jpg");
    harness.press("enter");
    let found = Preflight { images: 3, bytes: 4_000, ..Preflight::default() };
    harness.answer(Lane::Preflight, Payload::Preflight(found));
    harness.press("enter");
}

fn files() -> MediaAddition {
    let paths = vec!["/data/my new".into(), "/home/me/x.jpg".into()];
    MediaAddition { auto_reindex: true, ..MediaAddition::new(MediaSource::Files(paths)) }
}

#[test]
fn an_addition_is_previewed_and_then_sent_unchanged() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("A");
    harness.type_text("'/data/my new' ~/x.jpg");
    harness.press("enter");
    assert_eq!(harness.requests(), [&Request::Preflight(files().source)]);
    harness.press("enter");
    assert_eq!(harness.requests().len(), 1, "a look is not polled for twice");
    let found = Preflight { images: 3, ..Preflight::default() };
    harness.answer(Lane::Preflight, Payload::Preflight(found));
    harness.press("enter");
    assert_eq!(harness.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, files())]);
    assert!(harness.app.overlay().is_none());
}

#[test]
fn a_source_without_media_is_not_sent() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("A");
    harness.type_text("/empty");
    harness.press("enter");
    harness.answer(Lane::Preflight, Payload::Preflight(Preflight::default()));
    harness.press("enter");
    assert!(harness.requests().is_empty() && harness.app.overlay().is_some());
}

#[test]
fn the_check_of_a_source_does_not_stay_with_another_one() {
    let mut harness = AppHarness::with_clusters(3);
    let check = |harness: &AppHarness| match harness.app.dialog::<AddMediaForm>() {
        Some(form) => form.check.clone(),
        None => unreachable!("the form went"),
    };
    harness.press("A");
    harness.type_text("/files");
    harness.press("enter");
    let found = Preflight { images: 3, ..Preflight::default() };
    harness.answer(Lane::Preflight, Payload::Preflight(found.clone()));
    let files = MediaSource::Files(vec!["/files".into()]);
    assert_eq!(check(&harness), SourceCheck::Done(files, found));
    harness.press("up left tab");
    assert_eq!(check(&harness), SourceCheck::None);
    harness.type_text("s3://bucket/new/");
    harness.press("enter");
    let storage = MediaSource::Storage("s3://bucket/new/".into());
    assert_eq!(check(&harness), SourceCheck::NotPossible(storage));
    harness.type_text("2/");
    assert_eq!(check(&harness), SourceCheck::None);
    assert!(harness.requests().is_empty());
}

#[test]
fn only_the_selected_source_is_sent() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("A");
    harness.type_text("/files");
    harness.press("up left tab");
    harness.type_text("s3://bucket/new/");
    harness.press("tab space space tab");
    harness.type_text("arn:aws:iam::123456789012:role/reader");
    harness.press("tab tab");
    harness.type_text("x");
    harness.press("enter");
    assert!(harness.requests().is_empty(), "a count that is no number is refused at its field");
    let Some(form) = harness.app.dialog::<AddMediaForm>() else { unreachable!("the form went") };
    assert_eq!(form.error.as_ref().map(|trouble| trouble.0), Some(AddMediaField::Images));
    harness.press("backspace 9 enter");
    assert!(harness.requests().is_empty(), "the first Enter shows what will be added");
    harness.press("enter");
    let addition = MediaAddition {
        auto_reindex: true,
        assume_role: Some("arn:aws:iam::123456789012:role/reader".into()),
        batch_images: Some(9),
        ..MediaAddition::new(MediaSource::Storage("s3://bucket/new/".into()))
    };
    assert_eq!(harness.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

#[test]
fn an_addition_is_followed_to_partial_index_with_its_counts() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("A down right up");
    type_and_add(&mut harness);
    harness.answer(Lane::Upload(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    harness.answer(Lane::Datasets, images(240, "READY"));
    assert!(
        harness.app.jobs().get(JOB).unwrap().is_active(),
        "READY right after the start is not the end"
    );
    poll_returns(&mut harness, 241, "READ ONLY");
    assert_eq!(harness.app.jobs().get(JOB).unwrap().label(), "READ ONLY");
    poll_returns(&mut harness, 243, "PARTIAL INDEX");
    assert_eq!(harness.app.jobs().get(JOB).unwrap().label(), "PARTIAL INDEX");
    assert!(!harness.app.jobs().get(JOB).unwrap().is_active());
    assert_eq!(
        harness.notice(),
        "set-1: added 3 media items; the dataset is PARTIAL INDEX: R reindexes it"
    );
}

#[test]
fn a_reindex_is_confirmed_and_followed() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("R");
    assert!(harness.notice().contains("Add media first"), "{}", harness.notice());
    harness.wait(20);
    harness.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    harness.press("R esc");
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::Reindex(_))));
    harness.press("R enter");
    harness.answer(Lane::StartJob(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    harness.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    for status in ["READ ONLY", "INDEXING"] {
        poll_returns(&mut harness, 240, status);
        assert!(harness.app.jobs().get(JOB).unwrap().is_active(), "{status}");
    }
    poll_returns(&mut harness, 240, "READY");
    assert!(matches!(harness.app.jobs().get(JOB).unwrap().state(), JobState::DatasetDone(_)));
    let words: Vec<&str> = harness
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
    let mut harness = AppHarness::with_clusters(3);
    add_media(&mut harness);
    harness.fail(Lane::Upload(JOB), FailureKind::NoResponse);
    assert!(matches!(harness.app.jobs().get(JOB).unwrap().state(), JobState::Uncertain(_)));
    harness.answer(Lane::Datasets, images(240, "READ ONLY"));
    assert_eq!(harness.app.jobs().get(JOB).unwrap().state(), &JobState::DatasetRunning);
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
}

#[test]
fn an_addition_to_a_busy_dataset_is_queued() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, images(240, "INDEXING"));
    harness.answer_page(page(0, 3));
    add_media(&mut harness);
    assert_eq!(harness.app.jobs().get(JOB).unwrap().label(), "queued here");
    poll_returns(&mut harness, 240, "READ ONLY");
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
    poll_returns(&mut harness, 240, "READY");
    harness.take(|lane| *lane == Lane::Upload(JOB));
}

#[test]
fn a_rejected_addition_reopens_its_form() {
    for kind in [FailureKind::Invalid, FailureKind::Rejected] {
        let mut harness = AppHarness::with_clusters(3);
        add_media(&mut harness);
        harness.fail(Lane::Upload(JOB), kind);
        let Some(form) = harness.app.dialog::<AddMediaForm>() else { unreachable!("no form") };
        assert_eq!(form.location().value(), "'/data/my new' ~/x.jpg");
        assert!(form.error.as_ref().is_some_and(|(_, reason)| reason.as_str() == "it broke"));
    }
}

#[test]
fn quitting_before_media_are_sent_takes_a_second_key() {
    let mut harness = AppHarness::with_clusters(3);
    add_media(&mut harness);
    add_media(&mut harness);
    harness.press("q");
    assert!(!harness.other.contains(&Effect::Quit));
    let warning = "2 additions end before all media are sent; repeat this to leave anyway";
    assert_eq!(harness.notice(), warning);
    harness.press("q");
    assert!(harness.other.contains(&Effect::Quit));
}

#[test]
fn leaving_is_warned_about_for_each_addition_that_is_not_sent() {
    let leave = Effect::OpenDeployment(Destination::Sample);
    let mut harness = AppHarness::with_clusters(3);
    for addition in 0..2 {
        add_media(&mut harness);
        harness.press("P enter");
        assert!(!harness.other.contains(&leave), "{addition}");
        harness.fail(Lane::Upload(JobId(addition)), FailureKind::Forbidden);
    }
    add_media(&mut harness);
    harness.press("P enter P enter");
    assert!(harness.other.contains(&leave));
}

#[test]
fn on_premises_deployments_accept_only_server_paths() {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().deployment = DeploymentKind::Onprem;
    harness.press("A");
    harness.type_text("/mnt/new");
    harness.press("enter enter");
    let addition = MediaAddition::new(MediaSource::ServerPath("/mnt/new".into()));
    assert_eq!(harness.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

#[test]
fn local_deployments_have_no_options_of_a_cluster() {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("A");
    let Some(form) = harness.app.dialog::<AddMediaForm>() else { panic!("no form") };
    let fields = form.fields();
    assert!(fields.contains(&AddMediaField::Reindex), "{fields:?}");
    assert!(AddMediaField::CLUSTER_OPTIONS.iter().all(|it| !fields.contains(it)), "{fields:?}");
}
