//! Resolves the parts of a query that rank: a picture and its copies, or a text.

use std::{collections::HashMap, sync::Arc};

use crate::{
    index_cache::IndexCache,
    member_columns::MemberColumns,
    models::Models,
    search_query::RetrievalError,
    stored_pictures::{REQUEST_LIMIT, StoredPictures},
    user_tags::UserTagIndex,
};
use tessera_encoder::Encoder;
use tessera_model::{Anchor, AnchorKind, TagId, vql::QueryText};
use tessera_search::{
    index::Keypoints,
    member_search::{DistanceQuery, MemberVector, MergeRule, VectorQuery},
    similarity::{CopyCandidate, CopySearch},
    text::{
        full_text_query::{ExactWords, FullTextQuery, parse},
        name_words::NameQuery,
    },
};
use tessera_store::{
    Store, applied_model, captions,
    dataset::DatasetRecord,
    picture_features::{self, PictureFeatures},
    picture_table::StoredPicture,
    query_image,
    search_table::SearchTableLimits,
};

/// The parts of a deployment that a search needs.
pub struct SearchContext<'a> {
    pub store: &'a Arc<Store>,
    pub pictures: &'a StoredPictures,
    pub indexes: &'a IndexCache,
    pub models: &'a Models,
    pub dataset: &'a DatasetRecord,
    pub limits: SearchTableLimits,
}

/// The anchor of a search.
pub(super) struct QueryPicture {
    pub distance: DistanceQuery,
    pub features: PictureFeatures,
    pub thumbnail: Option<StoredPicture>,
}

/// The text of a search.
pub(super) struct TextSearch {
    /// The vectors of the text, or `None` if it has none.
    pub vectors: Option<DistanceQuery>,
    /// The words that names are searched for, or `None` if the text has none.
    pub names: Option<NameQuery>,
    /// The words that captions are searched for, or `None` if the text has none.
    pub exact: Option<ExactWords>,
}

impl SearchContext<'_> {
    /// Returns the tags and ratings of users, as of the revision of the dataset.
    pub(super) fn user_tags(&self) -> Result<Arc<UserTagIndex>, RetrievalError> {
        Ok(self.indexes.user_tags(self.store, self.dataset)?)
    }

    /// Fails if the dataset has no such tag. `is_searched` says whether a searched media item has it from a sidecar.
    /// If none has it, other media items may, such as those of the other entity type.
    pub(super) fn require_tag(
        &self,
        tag: TagId,
        is_searched: impl FnOnce() -> Result<bool, RetrievalError>,
    ) -> Result<(), RetrievalError> {
        let ids = &self.user_tags()?.ids;
        if ids.contains(tag) || is_searched()? {
            return Ok(());
        }
        let dataset = self.dataset.id;
        // What users have given is stored, so only tags of sidecars are left.
        let matches = |name: &str| ids.of(dataset, name) == tag;
        let is_known = self.store.read(|c| captions::has_sidecar_tag(c, dataset, matches))?;
        if is_known { Ok(()) } else { Err(RetrievalError::UnknownTag(tag)) }
    }

    /// Returns what media items are compared with: the descriptor, and the vector of the user's model if the dataset
    /// has vectors of that model.
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
        let builtin = VectorQuery { of: MemberVector::Descriptor, vector };
        let distance = match &features.model_vector {
            Some(vector) if self.has_model_vectors()? => {
                let model = VectorQuery { of: MemberVector::Model, vector: vector.clone() };
                DistanceQuery::Merged { builtin, model, rule: MergeRule::Weighted }
            }
            _ => DistanceQuery::Single(builtin),
        };
        Ok(QueryPicture { distance, features, thumbnail })
    }

    /// Returns what media items are compared with to find them by a text.
    pub(super) fn query_text(&self, text: &str) -> Result<TextSearch, RetrievalError> {
        let language = self.dataset.language.indexed;
        Ok(TextSearch {
            vectors: self.vectors_of_text(text)?,
            names: NameQuery::new(text, language),
            exact: ExactWords::new(text, language),
        })
    }

    /// Returns the vectors of a text, by captions and labels, and by the user's model if it takes texts and the dataset
    /// has its vectors. Returns `None` if there is no model and no word of the text is known.
    fn vectors_of_text(&self, text: &str) -> Result<Option<DistanceQuery>, RetrievalError> {
        let space = self.indexes.text_space(self.store, self.dataset)?;
        let model = self.applied_model()?.filter(|model| model.takes_texts());
        let builtin = space.and_then(|space| space.embed(text));
        let builtin = builtin.map(|vector| VectorQuery { of: MemberVector::Text, vector });
        let by_model = model.map(|model| model.embed_text(text)).transpose();
        let by_model = by_model.map_err(RetrievalError::UnencodableText)?;
        let by_model = by_model.map(|vector| VectorQuery { of: MemberVector::Model, vector });
        Ok(match (builtin, by_model) {
            (Some(builtin), Some(model)) => {
                Some(DistanceQuery::Merged { builtin, model, rule: MergeRule::BuiltinFirst })
            }
            (builtin, model) => builtin.or(model).map(DistanceQuery::Single),
        })
    }

    /// Whether the dataset has vectors of its model, or imported vectors in their place.
    fn has_model_vectors(&self) -> Result<bool, RetrievalError> {
        let is_imported = || self.store.read(|c| applied_model::is_imported(c, self.dataset.id));
        Ok(self.applied_model()?.is_some() || is_imported()?)
    }

    /// Returns the user's model if the dataset has vectors of it.
    fn applied_model(&self) -> Result<Option<Arc<Encoder>>, RetrievalError> {
        let model = self.models.of(self.dataset).map_err(RetrievalError::UnreadableModel)?;
        let Some(model) = model else { return Ok(None) };
        let applied = self.store.read(|c| applied_model::fingerprint(c, self.dataset.id))?;
        Ok((applied == Some(model.fingerprint())).then_some(model))
    }

    /// Parses a query on captions, in the language in which they are indexed.
    pub(super) fn full_text_query(
        &self,
        text: &QueryText,
    ) -> Result<FullTextQuery, RetrievalError> {
        parse(text.as_str(), self.dataset.language.indexed).map_err(RetrievalError::FullText)
    }
}

/// Replaces the distances of those members of an index that are copies.
pub fn lower_distances_of_copies(
    context: &SearchContext,
    picture: QueryPicture,
    members: &MemberColumns,
    distances: &mut [f32],
) -> Result<(), RetrievalError> {
    let read = |thumbnail| context.pictures.read(thumbnail, REQUEST_LIMIT);
    let thumbnail = picture.thumbnail.map(read);
    let thumbnail = thumbnail.transpose().map_err(RetrievalError::UnreadableThumbnail)?;
    let search = CopySearch::new(&picture.features.keypoints, &thumbnail.unwrap_or_default());
    let Some(search) = search else { return Ok(()) };
    let candidates = search.candidates(distances, &members.perceptual_hashes);
    let row = |member: u32| members.rows[member as usize];
    let rows: Vec<i64> = candidates.iter().map(|candidate| row(candidate.row)).collect();
    let keypoints = keypoints_of(context.store, &rows)?;
    for (member, distance) in search.copies(&candidates, |member| keypoints.get(&row(member))) {
        let known = &mut distances[member as usize];
        *known = known.min(distance);
    }
    Ok(())
}

/// Returns the rows of media that are copies, with their distances. Rotated copies are not found.
pub fn copies_among_rows(
    store: &Store,
    picture: &PictureFeatures,
    rows: &[i64],
) -> Result<Vec<(i64, f32)>, RetrievalError> {
    let Some(search) = CopySearch::new(&picture.keypoints, &[]) else { return Ok(Vec::new()) };
    let keypoints = keypoints_of(store, rows)?;
    let candidates: Vec<CopyCandidate> =
        (0..).zip(rows).map(|(at, _)| CopyCandidate::upright(at)).collect();
    let copies = search.copies(&candidates, |at| keypoints.get(&rows[at as usize])).into_iter();
    Ok(copies.map(|(at, distance)| (rows[at as usize], distance)).collect())
}

fn keypoints_of(store: &Store, rows: &[i64]) -> Result<HashMap<i64, Keypoints>, RetrievalError> {
    Ok(store.read(|c| picture_features::keypoints_of(c, rows))?)
}
