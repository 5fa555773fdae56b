//! Tests the map over a real folder: the picture at the cursor, a rectangle, and the neighbors. Tests the dates and
//! sizes of the folder as bars.

use tessera::worker::WorkerOptions;

use crate::journeys::harness::{Person, Service};

#[tokio::test(flavor = "multi_thread")]
async fn a_region_of_the_map_is_selected_and_a_point_leads_to_its_neighbors() {
    let service = Service::over_paintings(24).await;
    let mut person = Person::with_worker(&service, WorkerOptions::default()).await;
    person.press("g e").await;
    person.sees("Map: 24 media items");
    assert!(person.painted_cells() > 0, "the picture at the cursor is drawn");
    person.press("H H H H H H H H H H H H K K K K K K K K v").await;
    person.press("L L L L L L L L L L L L L L L L L L L L L L L L J J J J J J J J J J").await;
    person.sees("24 in the rectangle");
    person.press("space").await;
    person.sees("selected 24 media items");
    person.press("tab").await;
    person.sees("alone; Esc shows all");
    person.press("esc enter").await;
    person.sees("similar to");
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_sizes_of_a_folder_are_bars() {
    let service = Service::over_paintings(12).await.with_compat().await;
    let mut person = Person::with_worker(&service, WorkerOptions::default()).await;
    person.press("g f").await;
    for kind in ["dates", "bytes", "width"] {
        person.sees(kind);
    }
    // The issues, the folders and the other kinds are before the widths, which are the last kind.
    person.press("shift-tab").await;
    person.sees("In all 12 images");
    person.sees("pixels");
}
