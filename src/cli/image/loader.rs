//! Loads a picture from a file, standard input, a URL, or a dataset.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use super::NamedPicture;
use crate::cli::{CliError, Connection, Context, Exit};
use tessera_client::{ApiOperation, AuthMethod, BaseUrl, Client, Endpoint};
use tessera_model::{Anchor, AnchorKind, Link, MediaId, Query, SafeText, Search};
use tessera_picture::Crop;

const MAX_PICTURE_BYTES: usize = 64 << 20;

#[derive(Default)]
pub struct PictureLoader<'a> {
    connection: Option<Connection<'a>>,
}

impl<'a> PictureLoader<'a> {
    pub async fn load(
        &mut self,
        context: &'a Context,
        argument: &str,
        crop: Crop,
    ) -> Result<NamedPicture, CliError> {
        let picture = |bytes: Vec<u8>, name: &str| NamedPicture {
            bytes,
            crop: crop.clone(),
            name: SafeText::file_name(name),
        };
        if argument == "-" {
            let bytes = read_bounded(io::stdin().lock(), "standard input")?;
            return Ok(picture(bytes, "standard input"));
        }
        if argument.starts_with("http://") || argument.starts_with("https://") {
            let link = Link::new(argument);
            let bytes = anonymous_client(argument)?.fetch_picture(&link, MAX_PICTURE_BYTES).await?;
            let name = link.resource().rsplit('/').next().unwrap_or_default().to_owned();
            return Ok(picture(bytes.into(), &name));
        }
        match fs::File::open(argument) {
            Ok(file) => {
                let name = Path::new(argument).file_name().unwrap_or_default();
                Ok(picture(read_bounded(file, argument)?, &name.to_string_lossy()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match argument.parse() {
                Ok(media) => self.load_media(context, media, crop).await,
                Err(_) => Err(CliError::not_found(format!("{argument}: the file does not exist"))),
            },
            Err(error) => Err(CliError::failed(format!("{argument}: {error}"))),
        }
    }

    /// The API has no path for a media item, so it is found as the one most similar to itself.
    async fn load_media(
        &mut self,
        context: &'a Context,
        media: MediaId,
        crop: Crop,
    ) -> Result<NamedPicture, CliError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(context.connect(&[ApiOperation::Picture]).await?),
        };
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

    pub async fn close(self) -> Result<(), CliError> {
        match self.connection {
            Some(connection) => connection.close(Ok(Exit::Done)).await.map(drop),
            None => Ok(()),
        }
    }
}

/// A client without login for the host of a URL, with the usual limits for pictures.
fn anonymous_client(address: &str) -> Result<Client, CliError> {
    let origin = reqwest::Url::parse(address)
        .map(|url| url.origin().ascii_serialization())
        .map_err(|error| CliError::usage(format!("{}: {error}", Link::new(address))))?;
    Ok(Client::new(Endpoint::new(BaseUrl::parse(&origin)?, AuthMethod::OnPremises)?)?)
}

fn read_bounded(from: impl io::Read, name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PICTURE_BYTES).unwrap_or(u64::MAX);
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() <= MAX_PICTURE_BYTES => Ok(bytes),
        Ok(_) => Err(CliError::new(
            Exit::Invalid,
            format!("{name}: larger than {} MiB", MAX_PICTURE_BYTES >> 20),
        )),
        Err(error) => Err(CliError::failed(format!("{name}: {error}"))),
    }
}
