//! `tessera export start`: written down, sent once, followed and fetched as far as is wanted.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{
    fetch::{After, Wanted, deliver},
    report::document,
    what::What,
    which::Found,
};
use crate::{
    cli::{Connection, Context, Ended, Exit, Record, follow::parse_interval},
    config::{ExportDefaults, at_home},
};
use tessera_model::{
    ArchiveName, Dataset, Export, ExportFormat, ExportSpec, ExportTask, Failure, Operation,
    SafeText, Selection, Standing, Work,
};

/// The options of `export start`.
#[derive(Debug, Args)]
pub struct Start {
    /// Its id or its name.
    dataset: Option<String>,
    /// Format of the metadata: json or parquet; else as the settings say.
    #[arg(long, value_parser = format)]
    format: Option<ExportFormat>,
    /// With the pictures, or without; else as the settings say.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    images: Option<bool>,
    /// Name of the archive; else that of the dataset.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What is exported.
    #[command(flatten)]
    what: What,
    /// Follow it to its end.
    #[arg(long, help_heading = "What happens then")]
    wait: bool,
    /// Time between two questions; else 1 to 15 seconds, by its age.
    #[arg(long, value_name = "DURATION", value_parser = parse_interval,
          help_heading = "What happens then")]
    interval: Option<Duration>,
    /// Follow it, and fetch the archive to this folder.
    #[arg(long, value_name = "DIR", help_heading = "What happens then")]
    download: Option<PathBuf>,
    /// What happens to the archive.
    #[command(flatten)]
    after: After,
}

fn format(text: &str) -> Result<ExportFormat, String> {
    ExportFormat::parse(text).ok_or_else(|| "json or parquet".to_owned())
}

impl Start {
    /// Starts an export.
    ///
    /// # Errors
    /// It cannot be started, or not be followed or fetched as was wanted.
    pub(super) async fn run(
        self,
        context: &Context,
        connection: &Connection,
    ) -> Result<Exit, Ended> {
        let dataset = context.dataset(connection, self.dataset.as_deref()).await?;
        context.allow(&dataset, Operation::Export, false)?;
        let selection = self.what.selection(context, connection, &dataset)?;
        let export = self.export(&context.settings.export, &dataset, selection.as_ref());
        let wanted = export.fetch.then(|| Wanted { target: export.target(), after: &self.after });
        if let Some(wanted) = &wanted {
            // What cannot be fetched to there should not be started.
            wanted.check()?;
        }
        let mut record = Record::begin(context, connection, &dataset, Work::Export(export.clone()));
        let task = match send(connection, &dataset, &export.spec, selection).await {
            Ok(task) => task,
            Err(failure) => return Err(lost(&mut record, failure)),
        };
        record.stands(Standing::Running(task.id));
        if !self.wait && wanted.is_none() {
            let found =
                Found { dataset: dataset.id, task: task.id, job: Some(record.job().clone()) };
            return told(context, &found, &task);
        }
        context.note.say(format!("export {} of {}", task.id, dataset.name));
        let followed = context.follow_export(connection, dataset.id, task.id, self.interval).await;
        let task = followed.inspect_err(|ended| {
            if ended.exit == Exit::Remote {
                record.stands(Standing::Failed(SafeText::detail(&ended.sentence)));
            }
        })?;
        record.stands(Standing::Completed(task.id));
        let mut found =
            Found { dataset: dataset.id, task: task.id, job: Some(record.job().clone()) };
        let Some(wanted) = wanted else { return told(context, &found, &task) };
        let fetched = deliver(context, connection, &found, &wanted).await?;
        record.stands(Standing::Downloaded(fetched.archive.clone()));
        found.job = Some(record.job().clone());
        context.answer(&document(&found, &task, Some(&fetched)))?;
        Ok(fetched.exit(context, &found))
    }

    /// The export as it is asked for.
    fn export(
        &self,
        usual: &ExportDefaults,
        dataset: &Dataset,
        selection: Option<&Selection>,
    ) -> Export {
        let name = self.name.as_deref().or_else(|| self.what.name());
        Export {
            spec: ExportSpec {
                file_name: ArchiveName::new(name.unwrap_or(dataset.name.as_str())),
                format: self.format.unwrap_or(usual.format),
                include_images: self.images.unwrap_or(usual.include_images),
            },
            selection: selection.map(|selection| selection.totals().contents()),
            folder: self.download.clone().unwrap_or_else(|| at_home((&usual.download_dir).into())),
            // Nobody else would be there to fetch what is waited for.
            fetch: self.download.is_some()
                || self.after.extract.is_some()
                || self.wait && usual.auto_download,
        }
    }
}

/// Asks for the export, once.
async fn send(
    connection: &Connection,
    dataset: &Dataset,
    spec: &ExportSpec,
    selection: Option<Selection>,
) -> Result<ExportTask, Failure> {
    let client = &connection.client;
    let Some(selection) = selection else { return client.start_export(dataset.id, spec).await };
    let items = selection.items();
    client.start_selective_export(dataset.id, spec.format, spec.include_images, &items).await
}

/// The request came to nothing, or perhaps it did not (M19).
fn lost(record: &mut Record<'_>, failure: Failure) -> Ended {
    record.failed(&failure);
    let open = failure.leaves_open();
    let ended = Ended::from(failure);
    if open { ended.code("may_have_started") } else { ended }
}

/// Tells where it stands; only the id, when little is wanted.
fn told(context: &Context, found: &Found, task: &ExportTask) -> Result<Exit, Ended> {
    if context.global.quiet && !context.out.is_machine() {
        context.out.text(&format!("{}\n", found.task))?;
    } else {
        context.answer(&document(found, task, None))?;
    }
    Ok(Exit::Done)
}
