//! From what is kept and how it scores to pages of clusters: the cluster with the best member first, or
//! in the order of browsing where nothing scores.

use super::gallery::Gallery;
use crate::task::PREVIEWS;
use tessera_model::{Granularity, Page};

/// A score for every member, lower is better; infinite for those that have none.
#[derive(Clone, Debug)]
pub struct Scores {
    /// In the order of the members.
    pub values: Vec<f32>,
    /// What they are, in the words of the wire.
    pub kind: &'static str,
}

/// The clusters that answer a question, in their order.
pub struct Standing {
    level: usize,
    keep: Vec<bool>,
    scores: Option<Scores>,
    /// Cluster ranks at the level; the order of the answer.
    order: Vec<u32>,
}

/// A cluster of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// Its rank at the level, which names it in the store.
    pub cluster: u32,
    /// Its kept images, or the images that its kept objects are in.
    pub images: u64,
    /// Its kept videos.
    pub videos: u64,
    /// Its kept objects.
    pub objects: u64,
    /// Its best kept members, best first: row in the store and score, where something scores.
    pub best: Vec<(i64, Option<f32>)>,
}

impl Standing {
    /// Orders the clusters of the members that are kept and, where something scores, have a score.
    #[must_use]
    pub fn new(
        gallery: &Gallery,
        level: Granularity,
        mut keep: Vec<bool>,
        scores: Option<Scores>,
    ) -> Self {
        let level = usize::from(level.level());
        let mut best: Vec<f32> = Vec::new();
        for (index, member) in gallery.members.iter().enumerate() {
            let score = scores.as_ref().map_or(0.0, |scores| scores.values[index]);
            keep[index] &= score.is_finite();
            if keep[index] {
                let cluster = member.place.ranks[level] as usize;
                if cluster >= best.len() {
                    best.resize(cluster + 1, f32::INFINITY);
                }
                best[cluster] = best[cluster].min(score);
            }
        }
        let mut order: Vec<u32> =
            (0..).zip(&best).filter(|(_, s)| s.is_finite()).map(|(c, _)| c).collect();
        // Ties keep the order of browsing.
        order.sort_by(|&a, &b| best[a as usize].total_cmp(&best[b as usize]));
        Self { level, keep, scores, order }
    }

    /// What the scores are, where something scores.
    #[must_use]
    pub fn score_kind(&self) -> Option<&'static str> {
        self.scores.as_ref().map(|scores| scores.kind)
    }

    /// The rows of all kept members.
    pub fn rows<'a>(&'a self, gallery: &'a Gallery) -> impl Iterator<Item = i64> + 'a {
        let kept = gallery.members.iter().zip(&self.keep).filter(|(_, keep)| **keep);
        kept.map(|(member, _)| member.row)
    }

    /// The rows of the kept members of a cluster, by its rank.
    pub fn rows_of<'a>(
        &'a self,
        gallery: &'a Gallery,
        cluster: u32,
    ) -> impl Iterator<Item = i64> + 'a {
        let kept = gallery.members.iter().zip(&self.keep).filter(|(_, keep)| **keep);
        let inside = kept.filter(move |(member, _)| member.place.ranks[self.level] == cluster);
        inside.map(|(member, _)| member.row)
    }

    /// One page of clusters.
    #[must_use]
    pub fn page(&self, gallery: &Gallery, page: u64) -> Vec<Ranked> {
        let from = usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(Page::SIZE);
        let shown = self.order.get(from..).unwrap_or_default();
        let shown = &shown[..shown.len().min(Page::SIZE)];
        let highest = shown.iter().copied().max().map_or(0, |rank| rank as usize + 1);
        let mut places = vec![None; highest];
        let mut page: Vec<Ranked> = Vec::with_capacity(shown.len());
        for &cluster in shown {
            places[cluster as usize] = Some(page.len());
            page.push(Ranked { cluster, ..Ranked::default() });
        }
        let mut holding = vec![std::collections::HashSet::new(); page.len()];
        for (index, member) in gallery.members.iter().enumerate() {
            let cluster = member.place.ranks[self.level] as usize;
            let Some(place) = places.get(cluster).copied().flatten().filter(|_| self.keep[index])
            else {
                continue;
            };
            let score = self.scores.as_ref().map(|scores| scores.values[index]);
            let ranked = &mut page[place];
            if member.picture != member.row {
                ranked.objects += 1;
                holding[place].insert(member.picture);
            } else if member.video {
                ranked.videos += 1;
            } else {
                ranked.images += 1;
            }
            offer(&mut ranked.best, member.row, score);
        }
        for (ranked, holding) in page.iter_mut().zip(holding) {
            ranked.images += holding.len() as u64;
        }
        page
    }
}

/// Keeps the best, in their order; of equal ones those that came first.
fn offer(best: &mut Vec<(i64, Option<f32>)>, row: i64, score: Option<f32>) {
    // Half precision may put a picture a little nearer to itself than 0.
    let value = score.unwrap_or_default();
    let place = best.partition_point(|&(_, other)| other.unwrap_or_default() <= value);
    if place < PREVIEWS {
        best.insert(place, (row, score));
        best.truncate(PREVIEWS);
    }
}
