//! Finds the copies of the anchor of a search. Their distances replace the larger distances of their vectors.

use std::collections::HashMap;

use tessera_search::{
    index::Keypoints,
    similarity::{CopyCandidate, CopySearch},
};
use tessera_store::{
    Store,
    picture_features::{self, PictureFeatures},
};

use crate::{
    RetrievalError, SearchContext, member_columns::MemberColumns, search::QueryPicture,
    stored_pictures::REQUEST_LIMIT,
};

/// Replaces the distances of members of an index that are copies.
pub(super) fn apply_to_members(
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

/// Returns the rows of media that are copies, with their distances. Turned copies are not found.
pub fn among_rows(
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
