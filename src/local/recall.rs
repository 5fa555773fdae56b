//! What ranking needs in memory: the vectors of each dataset that was searched, read once per
//! clustering, and its last ranking, so that the next page of it costs nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use half::f16;

use crate::{
    local::{
        index::DIMENSION,
        search::Vectors,
        store::{Store, StoreError, dataset::Record, held, media},
        task::PREVIEWS,
    },
    model::{DatasetId, Granularity, MediaId},
};

/// The vectors of the datasets searched so far.
#[derive(Default)]
pub struct Recall {
    galleries: Mutex<HashMap<DatasetId, Arc<Gallery>>>,
}

/// The vectors of one dataset as of one clustering.
pub struct Gallery {
    generation: i64,
    vectors: Vectors,
    members: Vec<Member>,
    rows: HashMap<MediaId, usize>,
    last: Mutex<Option<(Question, Arc<[Ranked]>)>>,
}

struct Member {
    row: i64,
    ranks: [u32; Granularity::LEVELS],
}

/// What a ranking answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The anchor.
    pub anchor: MediaId,
    /// The granularity.
    pub level: Granularity,
}

/// A cluster of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Its rank by size at the level of the question, which names it in the store.
    pub cluster: u32,
    /// Its nearest members, nearest first: row in the store and cosine distance.
    pub nearest: Vec<(i64, f32)>,
}

impl Recall {
    /// The vectors of a dataset, from memory if they are still those of its last clustering.
    ///
    /// # Errors
    /// The store failed.
    pub fn gallery(&self, store: &Store, dataset: &Record) -> Result<Arc<Gallery>, StoreError> {
        let kept = held(&self.galleries).get(&dataset.id).cloned();
        if let Some(gallery) = kept.filter(|kept| kept.generation == dataset.generation) {
            return Ok(gallery);
        }
        let gallery = Arc::new(Gallery::load(store, dataset)?);
        held(&self.galleries).insert(dataset.id, gallery.clone());
        Ok(gallery)
    }
}

impl Gallery {
    fn load(store: &Store, dataset: &Record) -> Result<Self, StoreError> {
        let mut gallery = Self {
            generation: dataset.generation,
            vectors: Vectors::new(DIMENSION),
            members: Vec::new(),
            rows: HashMap::new(),
            last: Mutex::default(),
        };
        store.read(|c| {
            media::looks(c, dataset.id, |media, descriptor, ranks| {
                // A media without a place came after the clustering and is in no cluster.
                if let Some(ranks) = ranks {
                    gallery.rows.insert(media.id, gallery.members.len());
                    gallery.vectors.push(descriptor);
                    gallery.members.push(Member { row: media.row, ranks });
                }
            })
        })?;
        Ok(gallery)
    }

    /// The look of one of its media.
    #[must_use]
    pub fn look(&self, media: MediaId) -> Option<&[f16]> {
        self.rows.get(&media).map(|&row| self.vectors.row(row))
    }

    /// All clusters, the one with the best member first.
    pub fn ranking(&self, question: Question, look: &[f16]) -> Arc<[Ranked]> {
        if let Some((last, ranking)) = held(&self.last).as_ref()
            && *last == question
        {
            return ranking.clone();
        }
        let ranking: Arc<[Ranked]> = self.rank(question.level, look).into();
        *held(&self.last) = Some((question, ranking.clone()));
        ranking
    }

    /// Walks the members from the nearest to the farthest: clusters appear in their order, and
    /// the members of each in theirs.
    fn rank(&self, level: Granularity, look: &[f16]) -> Vec<Ranked> {
        let mut nearest: Vec<(f32, usize)> =
            self.vectors.distances(look).into_iter().zip(0..).collect();
        nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut places = HashMap::new();
        let mut ranking: Vec<Ranked> = Vec::new();
        for (distance, row) in nearest {
            let member = &self.members[row];
            let cluster = member.ranks[usize::from(level.level())];
            let place = *places.entry(cluster).or_insert_with(|| {
                ranking.push(Ranked { cluster, nearest: Vec::new() });
                ranking.len() - 1
            });
            if ranking[place].nearest.len() < PREVIEWS {
                // Half precision may put a picture a little nearer to itself than 0.
                ranking[place].nearest.push((member.row, distance.max(0.0)));
            }
        }
        ranking
    }
}
