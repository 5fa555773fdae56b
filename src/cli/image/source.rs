//! Where a picture to be shown comes from: a file, standard input, an address, or a dataset.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use super::Tile;
use crate::cli::{Connection, Context, Ended, Exit};
use tessera_client::{Access, BaseUrl, Client, Endpoint, Operation};
use tessera_model::{Anchor, AnchorKind, Link, MediaId, Query, SafeText, Search};
use tessera_picture::Part;

/// Bytes of a picture that is opened.
const LIMIT: usize = 64 << 20;

/// Opens pictures, and keeps the connection that the first media needed.
#[derive(Default)]
pub struct Gallery {
    connection: Option<Connection>,
}

impl Gallery {
    /// Opens one picture.
    ///
    /// # Errors
    /// It is not there, it is larger than 64 MiB, or the service keeps it away.
    pub async fn open(
        &mut self,
        context: &Context,
        given: &str,
        part: Part,
    ) -> Result<Tile, Ended> {
        let tile = |bytes: Vec<u8>, name: &str| Tile { bytes, part, name: SafeText::file(name) };
        if given == "-" {
            return Ok(tile(bounded(io::stdin().lock(), "standard input")?, "standard input"));
        }
        if given.starts_with("http://") || given.starts_with("https://") {
            let link = Link::new(given);
            let bytes = stranger(given)?.picture(&link, LIMIT).await?;
            let name = link.resource().rsplit('/').next().unwrap_or_default().to_owned();
            return Ok(tile(bytes.into(), &name));
        }
        match fs::File::open(given) {
            Ok(file) => {
                let name = Path::new(given).file_name().unwrap_or_default();
                Ok(tile(bounded(file, given)?, &name.to_string_lossy()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match given.parse() {
                Ok(media) => self.media(context, media, part).await,
                Err(_) => {
                    Err(Ended::new(Exit::NotFound, format!("{given}: there is no such file")))
                }
            },
            Err(error) => Err(Ended::new(Exit::Failed, format!("{given}: {error}"))),
        }
    }

    /// A media of the dataset: the interface has no path for one, so it is found as the most similar
    /// to itself.
    async fn media(
        &mut self,
        context: &Context,
        media: MediaId,
        part: Part,
    ) -> Result<Tile, Ended> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(context.connect(&[Operation::Picture]).await?),
        };
        let dataset = context.dataset(connection, None).await?.id;
        let query = Query::Similar(Anchor { media, kind: AnchorKind::Media });
        let page = connection.client.explore(&Search { query, ..Search::browse(dataset) }).await?;
        let mut previews = page.clusters.iter().flat_map(|cluster| &cluster.previews);
        let Some(preview) = previews.find(|preview| preview.media == media) else {
            let sentence = format!("{media}: no such media is found in the dataset");
            return Err(Ended::new(Exit::NotFound, sentence));
        };
        let Some(link) = preview.original.as_ref().or(preview.thumbnail.as_ref()) else {
            let sentence = format!("{media}: the service gives no link to the picture");
            return Err(Ended::new(Exit::NotFound, sentence));
        };
        let bytes = connection.client.picture(link, LIMIT).await?;
        Ok(Tile { bytes: bytes.into(), part, name: preview.file_name.clone() })
    }

    /// Ends the connection, if there is one.
    ///
    /// # Errors
    /// As [`Connection::close`].
    pub async fn close(self, context: &Context) -> Result<(), Ended> {
        match self.connection {
            Some(connection) => connection.close(context, Ok(Exit::Done)).await.map(drop),
            None => Ok(()),
        }
    }
}

/// A client of whatever host an address names: without login, and held to the rules for pictures.
fn stranger(address: &str) -> Result<Client, Ended> {
    let origin = reqwest::Url::parse(address)
        .map(|url| url.origin().ascii_serialization())
        .map_err(|error| Ended::new(Exit::Usage, format!("{}: {error}", Link::new(address))))?;
    Ok(Client::new(Endpoint::new(BaseUrl::parse(&origin)?, Access::OnPremises)?)?)
}

fn bounded(from: impl io::Read, name: &str) -> Result<Vec<u8>, Ended> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(LIMIT).unwrap_or(u64::MAX);
    let read = from.take(limit + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() <= LIMIT => Ok(bytes),
        Ok(_) => Err(Ended::new(Exit::Invalid, format!("{name}: larger than {} MiB", LIMIT >> 20))),
        Err(error) => Err(Ended::new(Exit::Failed, format!("{name}: {error}"))),
    }
}
