//! `tessera image`: draws pictures in the terminal's scrollback.

mod by_viuer;
mod draw;
mod loader;

use clap::Subcommand;

pub use draw::{DrawOptions, NamedPicture, draw_pictures, terminal_info};

use loader::PictureLoader;

use crate::cli::value_parsers::parse_region;
use crate::cli::{CliError, Context, Exit};
use tessera_model::Region;
use tessera_picture::Crop;

#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Draw pictures below the prompt: one large picture, or several in a grid.
    #[command(after_help = EXAMPLES)]
    Show {
        /// A file, `-` for standard input, an http(s) URL, or the ID of a media item in --dataset.
        #[arg(required = true, value_name = "FILE|URL|MEDIA")]
        pictures: Vec<String>,
        /// Pictures per row; several pictures have their names below them.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=32))]
        grid: Option<u16>,
        /// Maximum width in columns.
        #[arg(long, value_name = "CELLS", value_parser = clap::value_parser!(u16).range(1..=1000))]
        width: Option<u16>,
        /// Region to outline: x,y,width,height as fractions of the picture.
        #[arg(long = "box", value_name = "X,Y,W,H", value_parser = parse_region)]
        region: Option<Region>,
        /// Draw with the library viuer, for terminals that misdraw the encoding of tessera.
        #[arg(long)]
        viuer: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  tessera image show van.jpg --box 0.1,0.2,0.5,0.6
  tessera image show --grid 4 photos/*.jpg
  tessera image show van.jpg --graphics half | less -R";

const DEFAULT_GRID: u16 = 4;

pub async fn run(context: &Context, command: ImageCommand) -> Result<Exit, CliError> {
    let ImageCommand::Show { pictures, grid, width, region, viuer } = command;
    if context.out.is_machine() {
        let message = "this command draws pictures; remove --json, --jsonl and --jq";
        return Err(CliError::usage(message));
    }
    let screen = draw::terminal_info(context)?;
    let crop = region.map_or(Crop::Full, Crop::Highlighted);
    let mut loader = PictureLoader::default();
    let mut tiles = Vec::new();
    let mut first = None;
    for picture in &pictures {
        match loader.load(context, picture, crop.clone()).await {
            Ok(tile) => tiles.push(tile),
            Err(error) => {
                context.messages.warn(&error.message);
                first.get_or_insert(error);
            }
        }
    }
    loader.close().await?;
    let across = grid.unwrap_or(if pictures.len() > 1 { DEFAULT_GRID } else { 1 });
    let options = DrawOptions { across, width, by_viuer: viuer };
    let undecodable = draw_pictures(context, &screen, &tiles, options)?;
    match first.or(undecodable) {
        None => Ok(Exit::Done),
        Some(error) if pictures.len() == 1 => Err(error),
        Some(_) => Ok(Exit::Incomplete),
    }
}
