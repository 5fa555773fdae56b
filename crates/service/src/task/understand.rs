//! Gives media a meaning that texts can be compared with: a vector in a text space that is trained on the
//! captions and labels of the dataset itself. A batch is placed in the space that is there, until a
//! reindex trains it anew. A person's own encoders, where there are some, take its place.

use half::f16;
use rusqlite::Transaction;

use super::{End, Workshop, arrange::Scope, encode::encode, progress::Progress};
use crate::{store::meaning, words::space::Space};
use tessera_model::DatasetId;

/// What becomes of the space of a dataset.
enum NewSpace {
    /// It stays.
    Kept,
    /// It is replaced; there is none when nothing is told of any media.
    Trained(Option<Space>),
}

/// The meanings of a dataset or of a batch, ready to be written.
pub struct Understanding {
    dataset: DatasetId,
    space: NewSpace,
    vectors: Vec<(i64, Vec<f16>)>,
}

impl Understanding {
    /// Computes the meanings of a scope.
    ///
    /// # Errors
    /// Stopped, or the store failed.
    pub fn of(
        shop: &Workshop,
        dataset: DatasetId,
        scope: Scope,
        progress: &Progress,
    ) -> Result<Self, End> {
        shop.go_on()?;
        if let Some(encoders) = &shop.settings.encoders {
            encode(shop, dataset, scope, encoders, progress)?;
            return Ok(Self { dataset, vectors: Vec::new(), space: NewSpace::Kept });
        }
        let source = match scope {
            Scope::Everything => None,
            Scope::Batch(source) => Some(source),
        };
        let mut texts = Vec::new();
        shop.store
            .read(|c| meaning::texts(c, dataset, source, |row, text| texts.push((row, text))))?;
        let space = match scope {
            Scope::Everything => Space::train(texts.iter().map(|(_, text)| text)),
            Scope::Batch(_) => {
                let kept = shop.store.read(|c| meaning::space(c, dataset))?;
                kept.and_then(|bytes| Space::from_bytes(&bytes))
            }
        };
        let vectors =
            texts.iter().filter_map(|(row, text)| Some((*row, space.as_ref()?.embed(text)?)));
        let vectors = vectors.collect();
        let space = match scope {
            Scope::Everything => NewSpace::Trained(space),
            Scope::Batch(_) => NewSpace::Kept,
        };
        Ok(Self { dataset, space, vectors })
    }

    /// Writes them.
    ///
    /// # Errors
    /// The store failed.
    pub fn write(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        if let NewSpace::Trained(space) = &self.space {
            let bytes = space.as_ref().map(Space::to_bytes);
            meaning::replace_space(transaction, self.dataset, bytes.as_deref())?;
        }
        self.vectors
            .iter()
            .try_for_each(|(media, vector)| meaning::put(transaction, *media, vector))
    }
}
