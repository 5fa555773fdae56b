//! The contact sheet of `--show`: the first picture of each cluster, drawn below the results.

use futures_util::{StreamExt as _, stream};

use crate::cli::{
    CliError, CliResult, Connection, Context, TerminalInfo,
    image::{DrawOptions, NamedPicture, draw_pictures, terminal_info},
};
use tessera_model::{Cluster, Link, SafeText};
use tessera_picture::Crop;

const MAX_PICTURES: usize = 24;
const PICTURES_PER_ROW: u16 = 4;
const CONCURRENT_DOWNLOADS: usize = 6;
const MAX_THUMBNAIL_BYTES: usize = 16 << 20;

pub struct ContactSheet {
    terminal: TerminalInfo,
    pictures: Vec<(SafeText, Link)>,
}

impl ContactSheet {
    /// Fails early if there is nothing to draw on, or programs read the output.
    pub fn new(context: &Context) -> CliResult<Self> {
        if context.out.is_machine() {
            return Err(CliError::usage("--show draws pictures; remove --json, --jsonl and --jq"));
        }
        Ok(Self { terminal: terminal_info(context)?, pictures: Vec::new() })
    }

    pub fn add_clusters(&mut self, clusters: &[Cluster]) {
        let first = |cluster: &Cluster| {
            let preview = cluster.previews.first()?;
            Some((preview.title(), preview.thumbnail.clone()?))
        };
        let room = MAX_PICTURES.saturating_sub(self.pictures.len());
        self.pictures.extend(clusters.iter().filter_map(first).take(room));
    }

    /// Downloads and draws the pictures. Failed downloads are reported and skipped.
    pub async fn draw(self, connection: &Connection<'_>) -> CliResult<()> {
        let context = connection.context;
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
            context.messages.warn(format!("some pictures are missing: {failure}"));
        }
        let options = DrawOptions { across: PICTURES_PER_ROW, width: None, by_viuer: false };
        if let Some(damaged) = draw_pictures(context, &self.terminal, &tiles, options)? {
            context.messages.warn(&damaged.message);
        }
        Ok(())
    }
}
