//! What a search works with, and how the parts of a query are resolved.

use super::{IndexCache, RetrievalError};
use crate::stored_pictures::PictureStore;
use tessera_encoder::LearnedModel;
use tessera_model::{Anchor, AnchorKind, vql::QueryText};
use tessera_search::{
    member_search::{DistanceQuery, MemberVector, MergeRule, VectorQuery},
    text::full_text_query::{FullTextQuery, parse},
};
use tessera_store::{
    Store, applied_model,
    dataset::DatasetRecord,
    picture_features::{self, PictureFeatures},
    picture_table::StoredPicture,
    query_image,
    search_table::SearchTableLimits,
};

pub struct SearchContext<'a> {
    pub store: &'a Store,
    pub pictures: &'a PictureStore,
    pub indexes: &'a IndexCache,
    /// The user's own model, if there is one.
    pub model: Option<&'a LearnedModel>,
    pub dataset: &'a DatasetRecord,
    pub limits: SearchTableLimits,
}

/// The anchor of a search.
pub(super) struct QueryPicture {
    pub distance: DistanceQuery,
    pub features: PictureFeatures,
    pub thumbnail: Option<StoredPicture>,
}

impl SearchContext<'_> {
    /// What media items are compared with: by the descriptor, and by the model of this deployment if the dataset has
    /// its vectors.
    pub(super) fn query_picture(&self, anchor: Anchor) -> Result<QueryPicture, RetrievalError> {
        let (store, dataset) = (self.store, self.dataset.id);
        let found = if anchor.kind == AnchorKind::Upload {
            let upload = store.read(|c| query_image::find(c, dataset, anchor.media))?;
            upload.map(|upload| (upload.features, Some(StoredPicture::InStore(upload.thumbnail))))
        } else {
            store.read(|c| picture_features::find(c, dataset, anchor.media))?
        };
        let (features, thumbnail) = found.ok_or(RetrievalError::AnchorNotFound)?;
        let vector = features.descriptor.clone();
        let own = VectorQuery { of: MemberVector::Descriptor, vector };
        let distance = match &features.model_vector {
            Some(vector) if self.applied_model()?.is_some() => {
                let model = VectorQuery { of: MemberVector::Model, vector: vector.clone() };
                DistanceQuery::Merged { own, model, rule: MergeRule::Weighted }
            }
            _ => DistanceQuery::Single(own),
        };
        Ok(QueryPicture { distance, features, thumbnail })
    }

    /// The distance from a text: by captions and labels, and by the model of this deployment if it takes texts and the
    /// dataset has its vectors. `None` if no word of the text is known.
    pub(super) fn distance_from_text(
        &self,
        text: &str,
    ) -> Result<Option<DistanceQuery>, RetrievalError> {
        let space = self.indexes.text_space(self.store, self.dataset)?;
        let model = self.applied_model()?.filter(|model| model.takes_texts());
        if space.is_none() && model.is_none() {
            return Err(RetrievalError::NoTextEmbeddings);
        }
        let own = space.and_then(|space| space.embed(text));
        let own = own.map(|vector| VectorQuery { of: MemberVector::Embedding, vector });
        let by_model = model.map(|model| model.embed_text(text)).transpose();
        let by_model = by_model.map_err(RetrievalError::UnencodableText)?;
        let by_model = by_model.map(|vector| VectorQuery { of: MemberVector::Model, vector });
        Ok(match (own, by_model) {
            (Some(own), Some(model)) => {
                Some(DistanceQuery::Merged { own, model, rule: MergeRule::OwnFirst })
            }
            (own, model) => own.or(model).map(DistanceQuery::Single),
        })
    }

    /// The model of this deployment, if the vectors of the dataset are its own.
    fn applied_model(&self) -> Result<Option<&LearnedModel>, RetrievalError> {
        let Some(model) = self.model else { return Ok(None) };
        let applied = self.store.read(|c| applied_model::fingerprint(c, self.dataset.id))?;
        Ok((applied == Some(model.fingerprint())).then_some(model))
    }

    /// A query over captions, in the language that they are indexed in.
    pub(super) fn full_text_query(
        &self,
        text: &QueryText,
    ) -> Result<FullTextQuery, RetrievalError> {
        parse(text.as_str(), self.dataset.language.indexed).map_err(RetrievalError::FullText)
    }
}
