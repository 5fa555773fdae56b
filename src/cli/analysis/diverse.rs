//! `tessera dataset diverse`: selects the media that differ most, for example to label them first.

use tessera_model::text::grouped_with_noun;

use super::DatasetArgument;
use crate::cli::prelude::*;
use crate::{
    cli::{export::ExportContentOptions, selection::name_taken, values::existing_file},
    usecase::file_actions::selection_of_media,
};

#[derive(Debug, Args)]
pub struct DiverseOptions {
    /// Number of media to select.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    #[command(flatten)]
    source: DatasetArgument,
    #[command(flatten)]
    content: ExportContentOptions,
    /// Name of the selection.
    #[arg(long, value_name = "NAME", default_value = "diverse")]
    name: String,
    /// Replace a saved selection of the same name.
    #[arg(long)]
    force: bool,
}

impl DiverseOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            self.select(connection, dataset).await
        };
        self.source.with_dataset(context, work).await
    }

    async fn select(&self, connection: &Connection<'_>, dataset: &Dataset) -> CliResult {
        let context = connection.context;
        let service = connection.local_service("choosing diverse media")?;
        let id = dataset.id;
        if connection.state.has_named_selection(&self.name, id)? && !self.force {
            return Err(name_taken(&self.name));
        }
        let among = self.content.found_or_selected(connection, dataset).await?;
        let among = among.map(|selection| selection.items());
        let count = self.count as usize;
        let chosen =
            service.blocking(move |it| it.diverse_media(id, among.as_deref(), count)).await?;
        let found = grouped_with_noun(chosen.len() as u64, "media item", "media items");
        if context.is_dry_run() {
            let change = format!("save {found} as the selection `{}`", self.name);
            return context.print_planned_change(&change, None);
        }
        let (selection, existing) = (selection_of_media(&chosen), existing_file(self.force));
        let saved = connection.state.save_named_selection(&self.name, id, &selection, existing)?;
        saved.ok_or_else(|| name_taken(&self.name))?;
        let rows = chosen
            .iter()
            .map(|(media, file)| json!({"media_id": media, "path": file.to_string_lossy()}));
        let rows: Vec<_> = rows.collect();
        let fields = json!({ "dataset_id": id, "selection": self.name, "media": rows });
        context.print(&Document::new("tessera.diverse_media/1", fields))?;
        context.messages.info(format!("{found} selected as `{}`", self.name));
        if chosen.len() < count {
            context.messages.warn(format!("there are no more than {found} to choose from"));
            return Ok(Exit::Incomplete);
        }
        Ok(Exit::Done)
    }
}
