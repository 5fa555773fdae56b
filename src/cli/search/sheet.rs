//! The contact sheet of `--show`: the first picture of each cluster, drawn below the answer.

use futures_util::{StreamExt as _, stream};

use crate::cli::{
    Connection, Context, Ended, Exit,
    image::{Screen, Tile, draw, screen},
};
use tessera_model::{Cluster, Link, SafeText};
use tessera_picture::Part;

/// Pictures of a sheet.
const MOST: usize = 24;
/// Pictures in a row.
const ACROSS: u16 = 4;
/// Pictures that are fetched at once.
const AT_ONCE: usize = 6;
/// Bytes of a thumbnail.
const LIMIT: usize = 16 << 20;

/// A sheet that is being filled.
pub struct Sheet {
    screen: Screen,
    pictures: Vec<(SafeText, Link)>,
}

impl Sheet {
    /// A sheet for this terminal, before anything is asked of the service.
    ///
    /// # Errors
    /// [`Exit::Usage`]: there is nothing to draw on, or programs read the answer.
    pub fn new(context: &Context) -> Result<Self, Ended> {
        if context.out.is_machine() {
            let sentence = "--show draws pictures: leave --json, --jsonl and --jq out";
            return Err(Ended::new(Exit::Usage, sentence));
        }
        Ok(Self { screen: screen(context)?, pictures: Vec::new() })
    }

    /// Takes the first picture of each cluster, as far as there is room.
    pub fn take(&mut self, clusters: &[Cluster]) {
        let first = |cluster: &Cluster| {
            let preview = cluster.previews.first()?;
            Some((preview.file_name.clone(), preview.thumbnail.clone()?))
        };
        let room = MOST.saturating_sub(self.pictures.len());
        self.pictures.extend(clusters.iter().filter_map(first).take(room));
    }

    /// Fetches the pictures and draws them. One that does not come is told, and left out.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn draw(self, context: &Context, connection: &Connection) -> Result<(), Ended> {
        let fetch = async |(name, link): (SafeText, Link)| {
            let fetched = connection.client.picture(&link, LIMIT).await;
            fetched.map(|bytes| Tile { bytes: bytes.into(), part: Part::Whole, name })
        };
        let fetched = stream::iter(self.pictures).map(fetch).buffered(AT_ONCE);
        let (mut tiles, mut missing) = (Vec::new(), None);
        for tile in fetched.collect::<Vec<_>>().await {
            match tile {
                Ok(tile) => tiles.push(tile),
                Err(failure) => missing = missing.or(Some(failure)),
            }
        }
        if let Some(failure) = missing {
            context.note.warn(format!("not every picture came: {failure}"));
        }
        if let Some(damaged) = draw(context, &self.screen, &tiles, ACROSS, None)? {
            context.note.warn(&damaged.sentence);
        }
        Ok(())
    }
}
