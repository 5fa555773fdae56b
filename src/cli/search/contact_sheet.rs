//! The contact sheet of `--show`: the first picture of each cluster, drawn below the answer.

use futures_util::{StreamExt as _, stream};

use crate::cli::{
    CliError, Connection, Context, Exit,
    image::{NamedPicture, TerminalInfo, draw_pictures, terminal_info},
};
use tessera_model::{Cluster, Link, SafeText};
use tessera_picture::Crop;

/// Pictures of a sheet.
const MAX_PICTURES: usize = 24;
/// Pictures in a row.
const PICTURES_PER_ROW: u16 = 4;
/// Pictures that are fetched at once.
const CONCURRENT_DOWNLOADS: usize = 6;
/// Bytes of a thumbnail.
const MAX_THUMBNAIL_BYTES: usize = 16 << 20;

/// A sheet that is being filled.
pub struct ContactSheet {
    terminal: TerminalInfo,
    pictures: Vec<(SafeText, Link)>,
}

impl ContactSheet {
    /// A sheet for this terminal, before anything is asked of the service.
    ///
    /// # Errors
    /// [`Exit::Usage`]: there is nothing to draw on, or programs read the answer.
    pub fn new(context: &Context) -> Result<Self, CliError> {
        if context.out.is_machine() {
            let sentence = "--show draws pictures: leave --json, --jsonl and --jq out";
            return Err(CliError::new(Exit::Usage, sentence));
        }
        Ok(Self { terminal: terminal_info(context)?, pictures: Vec::new() })
    }

    /// Takes the first picture of each cluster, as far as there is room.
    pub fn add_clusters(&mut self, clusters: &[Cluster]) {
        let first = |cluster: &Cluster| {
            let preview = cluster.previews.first()?;
            Some((preview.file_name.clone(), preview.thumbnail.clone()?))
        };
        let room = MAX_PICTURES.saturating_sub(self.pictures.len());
        self.pictures.extend(clusters.iter().filter_map(first).take(room));
    }

    /// Fetches the pictures and draws them. One that does not come is told, and left out.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn draw(self, context: &Context, connection: &Connection) -> Result<(), CliError> {
        let fetch = async |(name, link): (SafeText, Link)| {
            let fetched = connection.client.fetch_picture(&link, MAX_THUMBNAIL_BYTES).await;
            fetched.map(|bytes| NamedPicture { bytes: bytes.into(), crop: Crop::Full, name })
        };
        let fetched = stream::iter(self.pictures).map(fetch).buffered(CONCURRENT_DOWNLOADS);
        let (mut tiles, mut missing) = (Vec::new(), None);
        for tile in fetched.collect::<Vec<_>>().await {
            match tile {
                Ok(tile) => tiles.push(tile),
                Err(failure) => missing = missing.or(Some(failure)),
            }
        }
        if let Some(failure) = missing {
            context.messages.warn(format!("not every picture came: {failure}"));
        }
        if let Some(damaged) =
            draw_pictures(context, &self.terminal, &tiles, PICTURES_PER_ROW, None)?
        {
            context.messages.warn(&damaged.message);
        }
        Ok(())
    }
}
