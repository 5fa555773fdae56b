//! The query image of `search image`: a local file, rotated upright, and an optional region.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{
    CliError, CliResult, absolute_path,
    value_parsers::{parse_four, parse_region},
};
use tessera_client::{Client, QueryImageUpload};
use tessera_model::{
    Dataset, Failure, FailureKind, HistoryEntry, Query, Region, SafeText, Search, ShellCommand,
    Status,
};

#[derive(Debug, Args)]
pub struct QueryImageOptions {
    /// A picture file of at most 32 MiB.
    #[arg(value_name = "FILE", id = "picture")]
    pub file: PathBuf,

    /// Region to search by: x,y,width,height as fractions of the image.
    #[arg(long = "box", value_name = "X,Y,W,H", value_parser = parse_region,
          allow_hyphen_values = true, conflicts_with = "pixels")]
    pub region: Option<Region>,

    /// The same in pixels of the upright image.
    #[arg(long = "box-px", value_name = "X,Y,W,H", value_parser = parse_four::<u32>, id = "pixels",
          allow_hyphen_values = true)]
    pub pixels: Option<[u32; 4]>,
}

#[derive(Debug)]
pub struct PreparedQueryImage {
    image: QueryImageUpload,
    /// An absolute path: the file is read again when the search is repeated.
    file: PathBuf,
    region: Option<Region>,
}

impl PreparedQueryImage {
    /// Reads the file. Nothing is sent yet.
    pub async fn open(options: QueryImageOptions) -> CliResult<Self> {
        let QueryImageOptions { file, region, pixels } = options;
        let image = QueryImageUpload::read(&file).await;
        let image = image.map_err(|failure| CliError::usage(failure.to_string()))?;
        let region = match (pixels, image.size()) {
            (None, Some(_)) => region,
            (None, None) if region.is_none() => None,
            (_, None) => {
                let message = "cannot be decoded, so no region of it can be used";
                return Err(CliError::usage(format!("{}: {message}", file.display())));
            }
            (Some(pixels), Some((width, height))) => {
                let region = Region::from_pixels(pixels, (width, height));
                Some(region.ok_or_else(|| {
                    CliError::usage(format!(
                        "--box-px is not inside the image of {width}x{height} pixels"
                    ))
                })?)
            }
        };
        Ok(Self { image, file: absolute_path(&file)?, region })
    }

    pub async fn register(
        self,
        client: &Client,
        dataset: &Dataset,
        search: Search,
    ) -> CliResult<HistoryEntry> {
        let Self { image, file, region } = self;
        let registered =
            client.register_anchor(dataset.id, image, search.entity, search.granularity, region);
        let anchor = registered.await.map_err(|failure| refused(dataset, failure))?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let part = region.map_or_else(String::new, |region| format!(", {}", region.description()));
        Ok(HistoryEntry {
            similar_to: Some(SafeText::file_name(&format!("{name}{part}"))),
            file: Some(file),
            region,
            ..HistoryEntry::new(Search { query: Query::Similar(anchor), ..search })
        })
    }
}

/// A visual search that is rejected while the dataset is READY most likely lacks a model.
pub fn refused(dataset: &Dataset, failure: Failure) -> CliError {
    if failure.kind != FailureKind::Conflict || dataset.status != Status::Ready {
        return failure.into();
    }
    let cause = "The dataset is READY: most likely it has no visual embedding model";
    CliError::from(failure.with_remedy(cause))
        .with_remedy(ShellCommand::new("tessera enrichment show").word(dataset.id.to_string()))
}
