//! Joins our descriptors with imported embeddings, so that clusters and diverse media follow the distance by which
//! look-alikes are ranked.

use half::f16;

use tessera_model::DatasetId;
use tessera_search::{member_search::MODEL_SHARE, similarity::Vectors};
use tessera_store::{Store, StoreError, applied_model, vectors};

/// The mean of fewer embeddings says more about these media than about their model.
const MIN_FOR_MEAN: usize = 100;

/// Returns a vector for each member whose cosine distance is the weighted one of its embedding and its descriptor.
/// Returns `None` if no member has an imported embedding. A member without one has only its descriptor, so it is near
/// other members without one.
///
/// The vectors of many models all point in a similar direction, so that all pictures would be near each other. The mean
/// is subtracted to undo this.
pub(crate) fn with_embeddings(
    store: &Store,
    dataset: DatasetId,
    descriptors: &Vectors,
    position: impl Fn(i64) -> Option<usize>,
) -> Result<Option<Vectors>, StoreError> {
    let embeddings = read_embeddings(store, dataset, position)?;
    let Some((_, first)) = embeddings.first() else { return Ok(None) };
    let dimension = first.len();
    let mean = mean(&embeddings, dimension);
    let mut weighted = Vectors::zeros(dimension + descriptors.dimension(), descriptors.len());
    for position in 0..descriptors.len() {
        let row = [&vec![f16::ZERO; dimension], descriptors.row(position)].concat();
        weighted.set(position, &row);
    }
    for (position, embedding) in embeddings {
        let numbers = embedding.iter().zip(&mean);
        let centered: Vec<f32> = numbers.map(|(number, mean)| number.to_f32() - mean).collect();
        let descriptor = descriptors.row(position).iter().map(|number| number.to_f32());
        let descriptor: Vec<f32> = descriptor.collect();
        let row = scaled(&centered, MODEL_SHARE).chain(scaled(&descriptor, 1.0 - MODEL_SHARE));
        weighted.set(position, &row.collect::<Vec<_>>());
    }
    Ok(Some(weighted))
}

/// Returns the imported embeddings of members, by position.
fn read_embeddings(
    store: &Store,
    dataset: DatasetId,
    position: impl Fn(i64) -> Option<usize>,
) -> Result<Vec<(usize, Vec<f16>)>, StoreError> {
    let mut embeddings = Vec::new();
    store.read(|c| {
        if !applied_model::is_imported(c, dataset)? {
            return Ok(());
        }
        vectors::for_each_model_vector(c, dataset, |media, vector| {
            embeddings.extend(position(media).map(|position| (position, vector.to_vec())));
        })
    })?;
    Ok(embeddings)
}

/// Returns the mean of many embeddings, or zeros.
#[expect(clippy::cast_precision_loss, reason = "a few million embeddings")]
fn mean(embeddings: &[(usize, Vec<f16>)], dimension: usize) -> Vec<f32> {
    let mut sums = vec![0.0; dimension];
    if embeddings.len() < MIN_FOR_MEAN {
        return sums;
    }
    for (_, embedding) in embeddings {
        for (sum, number) in sums.iter_mut().zip(embedding) {
            *sum += number.to_f32();
        }
    }
    sums.into_iter().map(|sum| sum / embeddings.len() as f32).collect()
}

/// Scales a vector so that its product with itself is `share`.
fn scaled(vector: &[f32], share: f32) -> impl Iterator<Item = f16> {
    let squares: f32 = vector.iter().map(|number| number * number).sum();
    let factor = (share / squares.max(f32::MIN_POSITIVE)).sqrt();
    vector.iter().map(move |number| f16::from_f32(number * factor))
}
