//! Performs an operation: everything it computes is written with its end, in one transaction, so that a
//! kill leaves either the old state of the dataset or the new one.

use super::{
    EXTRACTOR, End, Workshop,
    arrange::{Arrangement, Scope},
    arrive::{Missing, arrive},
    goal,
    intake::take_in,
    progress::Progress,
    understand::Understanding,
};
use crate::{
    settings::Failing,
    store::{
        StoreError, dataset,
        operation::{self, Kind, Running},
        source,
    },
};
use tessera_model::DatasetId;

/// Share of an operation that is done when all files are extracted.
const EXTRACTED: f64 = 0.9;
/// Share of what follows that is done when the clusters are there.
const ARRANGED: f64 = 0.8;

/// Performs the operation of a row, unless it is over. Returns the row of the one that follows.
///
/// # Errors
/// The store takes not even the reason of a failure; the operation stays as it is.
pub fn perform(shop: &Workshop, row: i64) -> Result<Option<i64>, StoreError> {
    let store = shop.store;
    let Some(running) = store.read(|c| operation::find(c, row))? else {
        return Ok(None);
    };
    let outcome = goal(shop.stop, || {
        shop.rehearse(rehearsed(running.kind), |part| shop.tell(running.dataset, part))?;
        match running.kind {
            Kind::Creation => create(shop, running.dataset),
            Kind::Addition => add(shop, &running),
            Kind::Reindex => reindex(shop, &running),
        }
    });
    match outcome {
        Ok((arrangement, understanding)) => store.write(|tx| {
            arrangement.write(tx)?;
            understanding.write(tx)?;
            dataset::count_generation(tx, running.dataset)?;
            operation::finish(tx, &running)
        }),
        Err(End::Stopped) => Ok(None),
        Err(End::Failed(why)) => {
            store.write(|tx| operation::fail(tx, &running, &why))?;
            Ok(None)
        }
    }
}

/// What an operation comes to.
type Outcome = (Arrangement, Understanding);

/// What is computed of a scope when its files are in the store; `from` is the share done until then.
fn outcome(shop: &Workshop, dataset: DatasetId, scope: Scope, from: f64) -> Result<Outcome, End> {
    let progress = Progress::new(shop, dataset, from, 1.0);
    let arranging = progress.part(0.0, ARRANGED);
    let arrangement = Arrangement::of(shop, dataset, scope, &arranging)?;
    let understanding = progress.part(ARRANGED, 1.0);
    Ok((arrangement, Understanding::of(shop, dataset, scope, &understanding)?))
}

fn rehearsed(kind: Kind) -> Option<Failing> {
    match kind {
        Kind::Creation => None,
        Kind::Addition => Some(Failing::AddMedia),
        Kind::Reindex => Some(Failing::Reindex),
    }
}

fn create(shop: &Workshop, id: DatasetId) -> Result<Outcome, End> {
    let store = shop.store;
    let record = store.read(|c| dataset::find(c, id))?.ok_or(End::Stopped)?;
    let anew = record.extractor != EXTRACTOR;
    if anew {
        store.write(|tx| dataset::forget(tx, id, EXTRACTOR))?;
    }
    for source in store.read(|c| source::all(c, id))? {
        // Batches do not change once they are in.
        if source.own || anew {
            take_in(shop, &source, &Missing::new())?;
        }
    }
    outcome(shop, id, Scope::Everything, EXTRACTED)
}

fn add(shop: &Workshop, running: &Running) -> Result<Outcome, End> {
    let batch = running.batch.as_ref().ok_or(End::Stopped)?;
    let found = shop.store.read(|c| source::find(c, batch.source))?;
    let source = found.ok_or_else(|| End::Failed("the batch has no folder".to_owned()))?;
    let missing = arrive(shop, &source, &batch.arrival)?;
    take_in(shop, &source, &missing)?;
    outcome(shop, running.dataset, Scope::Batch(source.row), EXTRACTED)
}

fn reindex(shop: &Workshop, running: &Running) -> Result<Outcome, End> {
    shop.store.write(|tx| operation::cluster(tx, running))?;
    outcome(shop, running.dataset, Scope::Everything, 0.0)
}
