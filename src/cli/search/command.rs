//! The search commands.

use clap::Subcommand;

use super::options::{CaptionOptions, CutOptions, ImageOptions, SearchOptions, parse_path};
use tessera_client::TextSearchPath;
use tessera_model::{AnchorKind, MediaId};

#[derive(Debug, Subcommand)]
pub enum SearchCommand {
    /// Search captions by meaning, closest first.
    Caption(CaptionOptions),
    /// Search by an image file, or a region of it.
    Image(ImageOptions),
    /// Search by a media item of the dataset.
    Media {
        /// ID of the media item.
        media: MediaId,
        #[command(flatten)]
        cut: CutOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search by an existing anchor, for example from `search image --anchor-only`.
    Anchor {
        /// ID of the anchor.
        anchor: MediaId,
        /// UPLOAD for an uploaded image, MEDIA for a media item of the dataset.
        #[arg(long = "type", value_name = "TYPE")]
        anchor_type: AnchorKind,
        #[command(flatten)]
        cut: CutOptions,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// Search with filters of the query language.
    Vql {
        /// Path of text searches below `/api/v1` [default: `explore/{dataset_id}`].
        #[arg(long, value_name = "PATH", value_parser = parse_path)]
        path: Option<TextSearchPath>,
        #[command(flatten)]
        options: SearchOptions,
    },
    /// List the clusters without ranking, largest first.
    Browse {
        #[command(flatten)]
        options: SearchOptions,
    },
}
