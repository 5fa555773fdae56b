//! Compares the rankings of random indexes with a scan of all members for each cluster.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tessera_search::similarity::Vectors;
use tessera_store::cluster::MemberCounts;

use tessera_model::{Granularity, ScoreKind};

use super::*;
use crate::{
    caption_index::{CaptionIndex, FileNames},
    member_columns::{MemberColumns, NameTable},
    vector_source::{PartialVectors, VectorSource},
};

#[derive(Clone, Debug)]
struct Member {
    picture: Option<i64>,
    video: Option<u32>,
    cluster: u32,
    matches: bool,
    score: f32,
}

/// Returns members with few different scores, so that there are ties.
fn member() -> impl Strategy<Value = Member> {
    let score = prop_oneof![
        9 => (-2..6_i8).prop_map(|value| f32::from(value) / 4.0),
        1 => Just(f32::INFINITY),
    ];
    let (picture, video) = (proptest::option::of(0..5_i64), proptest::option::of(0..3_u32));
    (picture, video, 0..240_u32, any::<bool>(), score).prop_map(
        |(picture, video, cluster, matches, score)| Member {
            // The rows of pictures that are not members themselves are above all other rows.
            picture: picture.map(|picture| 10_000 + picture),
            video: video.filter(|_| picture.is_none()),
            cluster,
            matches,
            score,
        },
    )
}

fn index_of(members: &[Member]) -> Arc<DatasetIndex> {
    let mut columns = MemberColumns::default();
    for (row, member) in (100..).zip(members) {
        columns.rows.push(row);
        columns.picture_rows.push(member.picture.unwrap_or(row));
        columns.videos.push(member.video.unwrap_or(NO_VIDEO));
        columns.cluster_ranks[0].push(member.cluster);
    }
    let none = || VectorSource::InMemory(Vectors::default());
    let no_members = || PartialVectors { vectors: none(), members: Vec::new() };
    let vectors = [no_members(), no_members(), no_members()];
    let (names, captions) = (NameTable::default(), CaptionIndex::default());
    Arc::new(DatasetIndex::new(1, columns, names, captions, FileNames::default(), vectors))
}

fn ranking_of(members: &[Member], is_scored: bool) -> ClusterRanking {
    let mask = members.iter().map(|member| member.matches).collect();
    let values = members.iter().map(|member| member.score).collect();
    let scores = is_scored.then_some(Scores { values, kind: ScoreKind::COSINE_DISTANCE });
    let grouping = Grouping::Level(Granularity::FINEST);
    let found = MatchingMembers { mask, scores, positions: None };
    ClusterRanking::new(index_of(members), grouping, found, Vec::new())
}

/// Returns the matching members with their rows, of one cluster or of all.
fn selected(members: &[Member], is_scored: bool, cluster: Option<u32>) -> Vec<(i64, &Member)> {
    (100..)
        .zip(members)
        .filter(|(_, member)| member.matches && (!is_scored || member.score.is_finite()))
        .filter(|(_, member)| cluster.is_none_or(|cluster| cluster == member.cluster))
        .collect()
}

/// Returns all clusters, by a stable sort by their best score.
fn expected(members: &[Member], is_scored: bool) -> Vec<ClusterMatch> {
    let clusters: BTreeSet<u32> = members.iter().map(|member| member.cluster).collect();
    let mut found: Vec<(f32, ClusterMatch)> = Vec::new();
    for cluster in clusters {
        let mut cluster_members = selected(members, is_scored, Some(cluster));
        let objects = cluster_members.iter().filter_map(|(_, member)| member.picture);
        let pictures: BTreeSet<i64> = objects.clone().collect();
        let videos: BTreeSet<u32> =
            cluster_members.iter().filter_map(|(_, member)| member.video).collect();
        let frames = cluster_members.iter().filter(|(_, member)| member.video.is_some()).count();
        let counts = MemberCounts {
            images: (cluster_members.len() - objects.clone().count() - frames + pictures.len())
                as u64,
            videos: videos.len() as u64,
            frames: frames as u64,
            objects: objects.count() as u64,
        };
        let score = |member: &Member| if is_scored { member.score } else { 0.0 };
        let Some(best) = cluster_members.iter().map(|(_, member)| score(member)).reduce(f32::min)
        else {
            continue;
        };
        cluster_members.sort_by(|(_, a), (_, b)| score(a).partial_cmp(&score(b)).unwrap());
        let best_members = cluster_members.iter().take(MAX_PREVIEWS);
        let best_members =
            best_members.map(|(row, member)| (*row, is_scored.then_some(member.score))).collect();
        found.push((best, ClusterMatch { cluster, counts, best_members }));
    }
    found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    found.into_iter().map(|(_, cluster)| cluster).collect()
}

proptest! {
    #[test]
    fn pages_are_those_of_a_stable_sort(
        members in proptest::collection::vec(member(), 0..400),
        is_scored: bool,
    ) {
        let ranking = ranking_of(&members, is_scored);
        let pages: Vec<ClusterMatch> = (0..4).flat_map(|page| ranking.page(page).unwrap()).collect();
        prop_assert_eq!(pages, expected(&members, is_scored));
        prop_assert!(ranking.page(u64::MAX).unwrap().is_empty());
    }

    #[test]
    fn members_are_those_that_match_in_the_order_of_the_index(
        members in proptest::collection::vec(member(), 0..60),
        is_scored: bool,
        cluster in 0..240_u32,
    ) {
        let ranking = ranking_of(&members, is_scored);
        let rows = |cluster| {
            selected(&members, is_scored, cluster).iter().map(|(row, _)| *row).collect::<Vec<_>>()
        };
        for cluster in [None, Some(cluster)] {
            let found = ranking.members(cluster).unwrap();
            prop_assert_eq!(found.iter().map(|m| m.row).collect::<Vec<_>>(), rows(cluster));
        }
    }

    #[test]
    fn an_order_of_files_takes_the_place_of_the_scores(
        members in proptest::collection::vec(member(), 0..300),
        seed in 0..1000_u32,
    ) {
        let count = u32::try_from(members.len()).unwrap();
        let positions: Vec<u32> =
            (0..count).map(|member| (member * 7919 + seed) % count.max(1)).collect();
        let found = MatchingMembers {
            mask: members.iter().map(|member| member.matches).collect(),
            scores: None,
            positions: Some(positions.clone()),
        };
        let grouping = Grouping::Level(Granularity::FINEST);
        let ranking = ClusterRanking::new(index_of(&members), grouping, found, Vec::new());
        let pages: Vec<ClusterMatch> = (0..4).flat_map(|page| ranking.page(page).unwrap()).collect();
        let position = |row: i64| positions[usize::try_from(row - 100).unwrap()];
        let firsts: Vec<u32> = pages.iter().map(|page| position(page.best_members[0].0)).collect();
        prop_assert!(firsts.is_sorted());
        for page in &pages {
            let best = ranking.best_members_of(page.cluster).unwrap();
            prop_assert!(best.is_sorted_by_key(|member| position(member.row)));
            let shown = page.best_members.iter().map(|(row, _)| *row);
            prop_assert!(shown.eq(best.iter().take(MAX_PREVIEWS).map(|member| member.row)));
        }
        prop_assert_eq!(pages.len(), expected(&members, false).len());
    }

    #[test]
    fn scores_are_ordered_as_floating_point_numbers(a: f32, b: f32) {
        prop_assert_eq!(total_order(a).cmp(&total_order(b)), a.total_cmp(&b));
    }
}
