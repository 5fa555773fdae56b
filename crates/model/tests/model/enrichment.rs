use tessera_model::{SafeText, enrichment::*};

use ModelStatus::{Applied, NotApplied, Unknown};

const CAPTIONS_OR_EMBEDDINGS: &[EnrichmentModel] = EnrichmentModel::ANY_FOR_SEMANTIC;

fn warning(
    models: &[EnrichmentModel],
    known: Option<[ModelStatus; EnrichmentModel::ALL.len()]>,
) -> Option<String> {
    let known =
        known.map(|statuses| Enrichment { statuses, models: Vec::new(), raw: SafeText::default() });
    missing_model_warning(models, known.as_ref())
}

#[test]
fn one_of_the_needed_models_is_enough() {
    // In the order captions, labels, embeddings, objects.
    for statuses in [
        [Applied, NotApplied, NotApplied, NotApplied],
        [NotApplied, NotApplied, Applied, NotApplied],
        [Applied, Unknown, Unknown, Unknown],
        [Unknown, NotApplied, Applied, Unknown],
    ] {
        assert_eq!(warning(CAPTIONS_OR_EMBEDDINGS, Some(statuses)), None, "{statuses:?}");
    }
    assert_eq!(warning(&[], None), None, "nothing is needed");
    assert_eq!(warning(&[], Some([NotApplied; 4])), None);
}

#[test]
fn a_warning_distinguishes_what_is_missing_from_what_is_not_known() {
    let missing =
        "needs MULTIMODEL_IMAGE_ENCODING or CAPTION_IMAGES, which this dataset does not have";
    let unknown = "needs MULTIMODEL_IMAGE_ENCODING or CAPTION_IMAGES; the service does not say whether \
                   this dataset has it";
    for (known, expected) in [
        (Some([NotApplied, Applied, NotApplied, Applied]), missing),
        (Some([NotApplied, Applied, Unknown, Applied]), unknown),
        (Some([Unknown; 4]), unknown),
        (None, unknown),
    ] {
        assert_eq!(warning(CAPTIONS_OR_EMBEDDINGS, known).as_deref(), Some(expected), "{known:?}");
    }
    assert_eq!(
        warning(EnrichmentModel::ANY_FOR_LABELS, Some([Applied, NotApplied, Applied, Applied])),
        Some("needs IMAGE_TAGGING, which this dataset does not have".to_owned())
    );
}

#[test]
fn each_model_has_a_status_of_its_own() {
    let statuses = [Applied, NotApplied, Unknown, Applied];
    let known = Enrichment { statuses, models: Vec::new(), raw: SafeText::default() };
    assert_eq!(EnrichmentModel::ALL.map(|model| known.status_of(model)), statuses);
}
