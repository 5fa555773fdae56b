//! Tests what the interface shows of a folder on this machine: the review of planted copies, and what it says before it
//! acts on files; the map, and the dates and sizes of files as bars.

use std::collections::BTreeSet;

use tessera::worker::WorkerOptions;
use tessera_model::SelectionEntry;

use crate::journeys::harness::{Service, UserHarness};

#[tokio::test(flavor = "multi_thread")]
async fn planted_copies_are_reviewed_compared_and_planned_for_the_trash() {
    // One of the samples has a near-duplicate already.
    let service = Service::over_copies(12, 3).await;
    let mut user = UserHarness::with_worker(&service, service.local_worker()).await;
    user.press("g d").await;
    user.sees("Duplicates: 4 groups");
    user.press("enter").await;
    user.sees("group 1 of 4");
    user.sees("same bytes");
    assert!(user.painted_cells() > 0, "both pictures are drawn");
    user.press("d").await;
    user.sees("0 pixels differ");
    user.press("x").await;
    user.sees("frees 0 B");
    user.press("u n n n n").await;
    user.sees("4 files stay, 4 files go");
    // The image that stays has changed since it was indexed, so its copy stays as well.
    let pictures = service.pictures();
    let kept = pictures.iter().find(|path| {
        let copy = format!("copy of {}", path.file_name().unwrap().to_string_lossy());
        pictures.contains(&path.with_file_name(copy))
    });
    std::fs::write(kept.unwrap(), "another picture").unwrap();
    user.press("t").await;
    user.sees("trash 3 files");
    user.sees("the image to keep has changed since it was indexed");
    user.press("esc").await;
    user.sees("4 files stay, 4 files go");
    user.press("esc esc 5").await;
    user.sees("Nothing is selected");
    assert_eq!(service.pictures().len(), 15, "nothing has been moved yet");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_media_that_differ_most_are_one_of_each_pair_of_copies() {
    let service = Service::over_copies(12, 3).await;
    let mut user = UserHarness::with_worker(&service, service.local_worker()).await;
    user.press("space g v 8 enter").await;
    user.sees("selected 8 media items that differ most; u restores the previous selection");
    let app = &user.session.app;
    let selection = app.baskets().selection(app.results()).unwrap();
    let entries = selection.ordered_entries();
    let originals = |entry: &SelectionEntry| entry.name.as_str().replace("copy of ", "");
    let names: BTreeSet<String> = entries.into_iter().map(originals).collect();
    assert_eq!(names.len(), 8, "no picture is there with its copy: {names:?}");
    user.press("M").await;
    user.sees("5 Basket");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_not_moved_to_the_place_of_a_file() {
    let service = Service::over_paintings(4).await;
    let mut user = UserHarness::with_worker(&service, service.local_worker()).await;
    let file = service.pictures().remove(0);
    user.press("space g m").await;
    user.paste(file.to_str().unwrap());
    user.press("enter").await;
    user.sees("is not a folder; give another one");
    assert_eq!(service.pictures().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_region_of_the_map_is_selected_and_a_point_leads_to_its_neighbors() {
    let service = Service::over_paintings(24).await;
    let mut user = UserHarness::with_worker(&service, WorkerOptions::default()).await;
    user.press("g e").await;
    user.sees("Map: 24 media items");
    assert!(user.painted_cells() > 0, "the picture at the cursor is drawn");
    user.press("H H H H H H H H H H H H K K K K K K K K v").await;
    user.press("L L L L L L L L L L L L L L L L L L L L L L L L J J J J J J J J J J").await;
    user.sees("24 in the rectangle");
    user.press("space").await;
    user.sees("selected 24 media items");
    user.press("tab").await;
    user.sees("alone; Esc shows all");
    user.press("esc enter").await;
    user.sees("similar to");
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_sizes_of_a_folder_are_bars() {
    let service = Service::over_paintings(12).await.with_compat().await;
    let mut user = UserHarness::with_worker(&service, WorkerOptions::default()).await;
    user.press("g f").await;
    for kind in ["dates", "bytes", "width"] {
        user.sees(kind);
    }
    // The issues, the folders and the other kinds are before the widths, which are the last kind.
    user.press("shift-tab").await;
    user.sees("In all 12 media items");
    user.sees("pixels");
}
