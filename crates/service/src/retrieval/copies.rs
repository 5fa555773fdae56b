//! The copies of the anchor of a search, whose distances are smaller than those of their vectors.

use std::collections::HashMap;

use super::{RetrievalError, member_columns::MemberColumns};
use crate::{
    index::Keypoints,
    similarity::{CopyCandidate, CopySearch},
    store::{
        Store,
        picture_features::{self, PictureFeatures},
    },
};

/// Replaces the distances of members of an index that are copies.
pub fn apply_to_members(
    store: &Store,
    picture: &PictureFeatures,
    members: &MemberColumns,
    distances: &mut [f32],
) -> Result<(), RetrievalError> {
    let Some(search) = search(picture) else { return Ok(()) };
    let candidates = search.candidates(distances, &members.perceptual_hashes);
    let row = |member: u32| members.rows[member as usize];
    let rows: Vec<i64> = candidates.iter().map(|candidate| row(candidate.row)).collect();
    let keypoints = keypoints_of(store, &rows)?;
    for (member, distance) in search.copies(&candidates, |member| keypoints.get(&row(member))) {
        let known = &mut distances[member as usize];
        *known = known.min(distance);
    }
    Ok(())
}

/// Those of some rows of media that are copies, with their distances.
pub fn among_rows(
    store: &Store,
    picture: &PictureFeatures,
    rows: &[i64],
) -> Result<Vec<(i64, f32)>, RetrievalError> {
    let Some(search) = search(picture) else { return Ok(Vec::new()) };
    let keypoints = keypoints_of(store, rows)?;
    let candidates: Vec<CopyCandidate> =
        (0..).zip(rows).map(|(at, _)| CopyCandidate::upright(at)).collect();
    let copies = search.copies(&candidates, |at| keypoints.get(&rows[at as usize])).into_iter();
    Ok(copies.map(|(at, distance)| (rows[at as usize], distance)).collect())
}

fn search(picture: &PictureFeatures) -> Option<CopySearch> {
    CopySearch::new(&picture.keypoints, &picture.thumbnail)
}

fn keypoints_of(store: &Store, rows: &[i64]) -> Result<HashMap<i64, Keypoints>, RetrievalError> {
    Ok(store.read(|c| picture_features::keypoints_of(c, rows))?)
}
