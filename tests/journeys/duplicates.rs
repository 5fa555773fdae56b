//! Tests the review of duplicates over a real folder with planted copies.

use std::sync::Arc;

use tessera::{usecase::file_actions::OriginalFinder, worker::WorkerOptions};
use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_model::{DatasetId, Failure, SelectionItem};
use tessera_service::{Deployment, LocalError};

use crate::journeys::harness::{Person, Service};

struct Originals(Deployment);

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn failure(error: LocalError) -> Failure {
    Failure::local(error.to_string())
}

impl OriginalFinder for Originals {
    fn selected(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, Failure> {
        self.0.selected_originals(dataset, items).map_err(failure)
    }

    fn listed(
        &self,
        dataset: DatasetId,
        files: Vec<std::path::PathBuf>,
    ) -> Result<FoundOriginals, Failure> {
        self.0.listed_originals(dataset, files).map_err(failure)
    }

    fn similar(&self, dataset: DatasetId, min: f64) -> Result<Vec<SimilarImages>, Failure> {
        self.0.similar_images(dataset, min).map_err(failure)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_copies_are_reviewed_compared_and_planned_for_the_trash() {
    // One of the samples has a near-duplicate already.
    let service = Service::over_copies(12, 3).await;
    let originals: Arc<dyn OriginalFinder> = Arc::new(Originals(service.deployment.clone()));
    let options = WorkerOptions { originals: Some(originals), ..WorkerOptions::default() };
    let mut person = Person::with_worker(&service, options).await;
    person.press("g d").await;
    person.sees("Duplicates: 4 groups");
    person.press("enter").await;
    person.sees("group 1 of 4");
    person.sees("same bytes");
    assert!(person.painted_cells() > 0, "both pictures are drawn");
    person.press("d").await;
    person.sees("0 pixels differ");
    person.press("x").await;
    person.sees("frees 0 B");
    person.press("u n n n n").await;
    person.sees("4 files stay, 4 files go");
    // The image that stays has changed since it was indexed, so its copy stays as well.
    let pictures = service.pictures();
    let kept = pictures.iter().find(|path| {
        let copy = format!("copy of {}", path.file_name().unwrap().to_string_lossy());
        pictures.contains(&path.with_file_name(copy))
    });
    std::fs::write(kept.unwrap(), "another picture").unwrap();
    person.press("t").await;
    person.sees("trash 3 files");
    person.sees("the image to keep has changed since it was indexed");
    person.press("esc 5").await;
    person.sees("copy of");
    assert_eq!(service.pictures().len(), 15, "nothing has been moved yet");
}
