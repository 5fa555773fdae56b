//! Tests opening, paging, grouping and searching.

use tessera_model::Granularity;

use crate::journeys::harness::{Service, UserHarness};

#[tokio::test(flavor = "multi_thread")]
async fn open_a_dataset_and_see_its_pictures() {
    let service = Service::over_paintings(24).await;
    let user = UserHarness::at(&service).await;
    user.sees("● paintings");
    user.sees("READY");
    user.sees("1 Datasets");
    assert!(user.painted_cells() > 500, "pictures are drawn:\n{}", user.screen());
    let page = user.session.app.results().page().unwrap();
    let members: u64 = page.clusters.iter().filter_map(tessera_model::Cluster::size).sum();
    assert_eq!(members, 24, "every picture is in exactly one cluster");
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_an_index_grow_until_it_is_ready() {
    let service = Service::indexing(48).await;
    let mut user = UserHarness::at(&service).await;
    service.deployment.wait_until_idle().await;
    user.wait(2).await;
    user.sees("● paintings");
    assert!(user.session.app.results().page().is_some_and(|page| !page.clusters.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn page_to_the_end_and_back() {
    let service = Service::over_noise(250).await;
    let mut user = UserHarness::at(&service).await;
    user.press("< <").await;
    user.sees("clusters 1-100 · granularity 0 · page 1");
    let first = user.session.app.results().cluster().unwrap().id;
    let mut pages = 1;
    while user.session.app.results().page().unwrap().may_have_next() {
        user.press("n").await;
        pages += 1;
        user.sees(&format!("page {pages}"));
    }
    user.press("n").await;
    user.sees("this is the last page");
    for _ in 1..pages {
        user.press("p").await;
    }
    assert_eq!(user.session.app.results().cluster().unwrap().id, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn granularities_nest_from_many_small_to_few_large_clusters() {
    let service = Service::over_paintings(48).await;
    let mut user = UserHarness::at(&service).await;
    user.press("< <").await;
    let mut counts = Vec::new();
    for level in 0..5 {
        assert_eq!(
            user.session.app.results().view().unwrap().search.granularity,
            Granularity::new(level).unwrap()
        );
        counts.push(user.session.app.results().page().unwrap().clusters.len());
        user.press(">").await;
    }
    assert!(counts.is_sorted_by(|finer, coarser| finer >= coarser), "{counts:?}");
    assert!(counts[0] > counts[4], "{counts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn find_what_is_similar_and_come_back() {
    let service = Service::over_paintings(40).await;
    let mut user = UserHarness::at(&service).await;
    user.press("l").await;
    let from = user.session.app.results().cluster().unwrap().id;
    user.press("f").await;
    user.sees("similar to");
    let clusters = &user.session.app.results().page().unwrap().clusters;
    let scores: Vec<f64> =
        clusters.iter().map(|cluster| cluster.relevance.as_ref().unwrap().score).collect();
    assert!(scores[0] < 0.005, "the picture itself comes first: {scores:?}");
    assert!(scores.is_sorted(), "nearest first: {scores:?}");
    user.press("esc").await;
    assert_eq!(user.session.app.results().cluster().unwrap().id, from);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_by_a_file_of_this_machine() {
    let service = Service::over_paintings(40).await;
    let mut user = UserHarness::at(&service).await;
    user.press("F").await;
    user.paste(&service.a_picture().to_string_lossy());
    user.press("enter").await;
    user.sees("similar to");
    let best = user.session.app.results().cluster().unwrap();
    assert!(best.relevance.as_ref().unwrap().score < 0.02, "its own copy in the dataset is found");
    assert_eq!(
        best.previews[0].file_name.as_str(),
        service.a_picture().file_name().unwrap().to_str().unwrap()
    );
    // Another granularity registers the same file again, and stays in the same view.
    user.press("<").await;
    user.sees("granularity 1");
    assert_eq!(user.session.app.results().tabs().unwrap().tab().back_stack.len() + 1, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_picture_is_refused_in_words() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    let text = service.folder.path().join("notes.txt");
    std::fs::write(&text, "no picture").unwrap();
    user.press("F").await;
    user.paste(&text.to_string_lossy());
    user.press("enter").await;
    user.sees("✖");
    assert_eq!(user.session.app.results().tabs().unwrap().tab().back_stack.len() + 1, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn enter_ends_in_the_full_size_view_of_the_original() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    // The keys go through the members, if the cluster has more than one.
    user.press("enter enter enter").await;
    let app = &user.session.app;
    let panel = app.viewer_panels()[0];
    let (view, canvas) = app.displayed_in_viewer(&panel).unwrap();
    let picture = app.service_data().pictures.get(&view, canvas).unwrap().as_ref().unwrap();
    assert_eq!(Some(picture.original), panel.picture.preview().dimensions);
    // A picture is as large as the screen allows, even if it has fewer pixels.
    let is_fitted = picture.cells.0 == panel.area.width || picture.cells.1 == panel.area.height;
    assert!(is_fitted, "{:?} in {:?}", picture.cells, panel.area);
    user.press("+ + +").await;
    user.sees("of ");
    user.press("esc").await;
    user.sees("Results");
}
