//! The media of one dataset and entity type in memory: what they look like, what they mean, and what
//! filters ask of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use half::f16;

use super::rank::Standing;
use crate::{
    index::DIMENSION,
    search::Vectors,
    store::{
        Store, StoreError,
        cluster::Place,
        dataset::Record,
        held,
        media::{self, Look},
    },
};
use tessera_model::{
    Anchor, DatasetId, EntityType, Filter, Granularity, MediaId, TagId, vql::Fraction,
};

/// The media of one dataset as of one generation.
pub struct Gallery {
    pub(super) generation: i64,
    /// In order of path.
    pub members: Vec<Member>,
    looks: Vectors,
    meanings: Vectors,
    /// The members that have a meaning, in the order of `meanings`.
    meant: Vec<u32>,
    by_id: HashMap<MediaId, u32>,
    by_row: HashMap<i64, Vec<u32>>,
    names: Names,
    last: Mutex<Option<(Question, Arc<Standing>)>>,
}

/// A clustered media, as filters and rankings see it.
pub struct Member {
    /// Its row in the store.
    pub row: i64,
    /// The row of the picture that it is, or is in.
    pub picture: i64,
    /// Whether it is a video.
    pub video: bool,
    /// Where the clustering put it.
    pub place: Place,
    /// Variance of the Laplacian.
    pub sharpness: f32,
    /// Mean luma, 0.0-1.0.
    pub brightness: f32,
    /// Its labels, as numbers of the gallery's names.
    pub labels: Box<[u32]>,
    /// Its user tags, as numbers of the gallery's names.
    pub tags: Box<[u32]>,
}

/// Labels and tags as numbers: most media share a few.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn numbers(&mut self, names: &[String]) -> Box<[u32]> {
        names.iter().map(|name| self.number(name)).collect()
    }
}

/// What an answer answers: equal questions have equal answers within a generation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Question {
    /// What ranks by look.
    pub anchor: Option<Anchor>,
    /// What ranks by meaning.
    pub caption: Option<String>,
    /// Only scores below it.
    pub below: Option<Fraction>,
    /// What must hold.
    pub filters: Vec<Filter>,
    /// How coarse the clusters are.
    pub level: Granularity,
}

impl Gallery {
    pub(super) fn load(
        store: &Store,
        dataset: &Record,
        entity: EntityType,
    ) -> Result<Self, StoreError> {
        let mut gallery = Self {
            generation: dataset.generation,
            members: Vec::new(),
            looks: Vectors::new(DIMENSION),
            meanings: Vectors::default(),
            meant: Vec::new(),
            by_id: HashMap::new(),
            by_row: HashMap::new(),
            names: Names::default(),
            last: Mutex::default(),
        };
        store.read(|c| media::looks(c, dataset.id, entity, |look| gallery.push(look)))?;
        Ok(gallery)
    }

    /// A media without a place came after the clustering and is in no cluster.
    fn push(&mut self, look: Look) {
        let Some(place) = look.place else { return };
        let media = look.media;
        let Ok(index) = u32::try_from(self.members.len()) else { return };
        if let Some(meaning) = look.meaning {
            if self.meanings.is_empty() {
                self.meanings = Vectors::new(meaning.len());
            }
            // Another dimension is of another space, which is about to be replaced.
            if meaning.len() == self.meanings.dimension() {
                self.meanings.push(&meaning);
                self.meant.push(index);
            }
        }
        self.looks.push(&look.descriptor);
        self.by_id.insert(media.id, index);
        self.by_row.entry(media.picture()).or_default().push(index);
        self.members.push(Member {
            row: media.row,
            picture: media.picture(),
            video: media.kind == media::Kind::Video,
            place,
            sharpness: media.sharpness,
            brightness: media.brightness,
            labels: self.names.numbers(&media.labels),
            tags: self.names.numbers(&media.tags),
        });
    }

    /// The look of one of its media.
    #[must_use]
    pub fn look(&self, media: MediaId) -> Option<&[f16]> {
        self.by_id.get(&media).map(|&index| self.looks.row(index as usize))
    }

    /// The members that are, or are in, the picture of a row.
    pub(super) fn of_picture(&self, row: i64) -> &[u32] {
        self.by_row.get(&row).map_or(&[], Vec::as_slice)
    }

    /// The number of a label or tag; `None` if no member has it.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.names.numbers.get(name).copied()
    }

    /// All labels and tags with their numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.numbers.iter().map(|(name, &number)| (name.as_str(), number))
    }

    /// The distance of every member from a look.
    pub(super) fn distances(&self, look: &[f16]) -> Vec<f32> {
        self.looks.distances(look)
    }

    /// The distance of every member from a meaning; infinite for those without.
    pub(super) fn distances_in_meaning(&self, meaning: &[f16]) -> Vec<f32> {
        let mut distances = vec![f32::INFINITY; self.members.len()];
        if meaning.len() == self.meanings.dimension() {
            for (&member, distance) in self.meant.iter().zip(self.meanings.distances(meaning)) {
                distances[member as usize] = distance;
            }
        }
        distances
    }

    /// The answer to a question: from memory if it was the last one, else from `find`.
    ///
    /// # Errors
    /// Whatever `find` fails with.
    pub fn answer<E>(
        &self,
        question: &Question,
        find: impl FnOnce() -> Result<Standing, E>,
    ) -> Result<Arc<Standing>, E> {
        let kept = held(&self.last).as_ref().filter(|(last, _)| last == question).cloned();
        if let Some((_, standing)) = kept {
            return Ok(standing);
        }
        let standing = Arc::new(find()?);
        *held(&self.last) = Some((question.clone(), standing.clone()));
        Ok(standing)
    }
}

/// The identifier of a user tag of a dataset: the same for the same name.
#[must_use]
pub fn tag_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(uuid::Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}
