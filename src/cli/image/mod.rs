//! `tessera image`: draws pictures into the terminal's scrollback, from a file, standard input, a URL, or a dataset.

mod draw;

use std::{
    fs,
    io::{self, Read as _},
};

pub use draw::{DrawOptions, NamedPicture, draw_pictures, terminal_info};

use crate::cli::prelude::*;
use crate::cli::{
    keyboard::{self, Keyboard},
    values::parse_region,
};
use crate::process_signals::blocking_read;
use tessera_client::{AuthMethod, BaseUrl, Client, ServiceConfig};
use tessera_model::{Anchor, AnchorKind, Link, MAX_PICTURE_BYTES, MediaId, Query, Region};
use tessera_picture::Crop;

#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Draw pictures below the prompt: one large picture, or several in a grid.
    Show {
        /// A file, `-` for standard input, an http(s) URL, or the ID of a media item in --dataset.
        #[arg(required = true, value_name = "FILE|URL|MEDIA")]
        pictures: Vec<PathBuf>,
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

const DEFAULT_GRID: u16 = 4;

pub async fn run(context: &Context, command: ImageCommand) -> CliResult {
    let ImageCommand::Show { pictures, grid, width, region, viuer } = command;
    if context.out.is_machine() {
        let message = "this command draws pictures; remove --json, --jsonl and --jq";
        return Err(CliError::usage(message));
    }
    let screen = draw::terminal_info(context)?;
    let crop = region.map_or(Crop::Full, Crop::Highlighted);
    let mut connection = None;
    let mut tiles = Vec::new();
    let mut first = None;
    for picture in &pictures {
        match load(context, &mut connection, picture, crop.clone()).await {
            Ok(tile) => tiles.push(tile),
            Err(error) => {
                context.messages.warn(&error.message);
                first.get_or_insert(error);
            }
        }
    }
    if let Some(connection) = connection {
        connection.close(Ok(Exit::Done)).await?;
    }
    let across = grid.unwrap_or(if pictures.len() > 1 { DEFAULT_GRID } else { 1 });
    let options = DrawOptions { across, width, by_viuer: viuer };
    let undecodable = draw_pictures(context, &screen, &tiles, options)?;
    match first.or(undecodable) {
        None => Ok(Exit::Done),
        Some(error) if pictures.len() == 1 => Err(error),
        Some(_) => Ok(Exit::Incomplete),
    }
}

/// Loads a picture. The connection is opened for the first media item, and the caller closes it.
async fn load<'a>(
    context: &'a Context,
    connection: &mut Option<Connection<'a>>,
    argument: &Path,
    crop: Crop,
) -> CliResult<NamedPicture> {
    let picture = |bytes: Vec<u8>, name: &str| NamedPicture {
        bytes,
        crop: crop.clone(),
        name: SafeText::file_name(name),
    };
    let text = argument.to_string_lossy();
    if text == "-" {
        let bytes = read_bounded(Keyboard, "standard input")?;
        return Ok(picture(bytes, "standard input"));
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        let link = Link::new(&*text);
        let bytes = anonymous_client(&text)?.fetch_picture(&link, MAX_PICTURE_BYTES).await?;
        let name = link.resource().rsplit('/').next().unwrap_or_default().to_owned();
        return Ok(picture(bytes.into(), &name));
    }
    match blocking_read(|| fs::File::open(argument)) {
        Ok(file) => {
            let name = argument.file_name().unwrap_or_default();
            let bytes = blocking_read(|| read_bounded(file, &text))?;
            Ok(picture(bytes, &name.to_string_lossy()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match text.parse() {
            Ok(media) => {
                let connection = match connection {
                    Some(connection) => connection,
                    none => none.insert(context.connect(&[Endpoint::Picture]).await?),
                };
                load_media(connection, media, crop).await
            }
            Err(_) => Err(CliError::not_found(format!("{text}: the file does not exist"))),
        },
        Err(error) => Err(CliError::failed(format!("{text}: {error}"))),
    }
}

/// Loads a picture of a dataset. The API has no request for a single media item, so this searches for the media item
/// that is most similar to it, which is the media item itself.
async fn load_media(
    connection: &Connection<'_>,
    media: MediaId,
    crop: Crop,
) -> CliResult<NamedPicture> {
    let dataset = connection.dataset(None).await?.id;
    let query = Query::Similar(Anchor { media, kind: AnchorKind::Media });
    let page = connection.client.explore(&Search { query, ..Search::browse(dataset) }).await?;
    let mut previews = page.clusters.iter().flat_map(|cluster| &cluster.previews);
    let Some(preview) = previews.find(|preview| preview.media == media) else {
        let message = format!("{media}: the dataset has no such media item");
        return Err(CliError::not_found(message));
    };
    let Some(link) = preview.original.as_ref().or(preview.thumbnail.as_ref()) else {
        let message = format!("{media}: the service gives no link to the picture");
        return Err(CliError::not_found(message));
    };
    let bytes = connection.client.fetch_picture(link, MAX_PICTURE_BYTES).await?;
    Ok(NamedPicture { bytes: bytes.into(), crop, name: preview.title() })
}

/// Creates a client without login for the host of a URL, with the usual limits for pictures.
fn anonymous_client(address: &str) -> CliResult<Client> {
    let origin = reqwest::Url::parse(address)
        .map(|url| url.origin().ascii_serialization())
        .map_err(|error| CliError::usage(format!("{}: {error}", Link::new(address))))?;
    Ok(Client::new(ServiceConfig::new(BaseUrl::parse(&origin)?, AuthMethod::OnPremises)?)?)
}

fn read_bounded(from: impl io::Read, name: &str) -> CliResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PICTURE_BYTES).unwrap_or(u64::MAX);
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() <= MAX_PICTURE_BYTES => Ok(bytes),
        Ok(_) => Err(CliError::new(
            Exit::Invalid,
            format!("{name}: larger than {} MiB", MAX_PICTURE_BYTES >> 20),
        )),
        Err(error) => Err(keyboard::read_error(&format!("read {name}"), &error)),
    }
}
