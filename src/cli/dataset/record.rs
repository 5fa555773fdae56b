//! `tessera dataset list` and `tessera dataset show`: print the records of datasets.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::{
    DatasetList, EncodingProgress, EntityType, FailureKind, LocalDataset, Operation, Overview,
    Permission, Status,
};
use tessera_wire::dataset::DatasetBody;

use crate::cli::prelude::*;
use crate::cli::{
    LocalService,
    output::table::{plot_clusters, plot_overviews},
    values::now_rfc3339,
};

/// Returns the folders of datasets that this process reads, and of no others.
fn folders(connection: &Connection<'_>) -> CliResult<BTreeMap<DatasetId, PathBuf>> {
    let local = connection.local.as_ref();
    Ok(local.map(LocalService::dataset_folders).transpose()?.unwrap_or_default())
}

pub(super) async fn list(connection: &Connection<'_>, status: Option<&Status>) -> CliResult {
    let context = connection.context;
    let DatasetList { datasets: mut all, unreadable: skipped } =
        connection.client.list_datasets().await?;
    let target = context.target()?;
    let pinned = target.profile.options.pinned.iter().filter_map(|id| id.parse().ok());
    for id in pinned {
        if all.iter().any(|dataset| dataset.id == id) {
            continue;
        }
        match connection.client.dataset(id).await {
            Ok(dataset) => all.push(dataset),
            Err(failure) => {
                context.messages.warn(format!("cannot read the pinned dataset {id}: {failure}"));
            }
        }
    }
    let folders = folders(connection)?;
    let row = |dataset: &Dataset| {
        let mut row = dataset_document(dataset);
        if let Some(folder) = folders.get(&dataset.id) {
            row["_local"] = json!({ "folder": folder.to_string_lossy() });
        }
        row
    };
    let rows: Vec<Value> = all
        .iter()
        .filter(|dataset| status.is_none_or(|status| dataset.status == *status))
        .map(row)
        .collect();
    for dataset in &all {
        warn_if_missing(connection, dataset);
        warn_if_failed(context, dataset);
    }
    if skipped > 0 {
        let datasets = count_with_noun(skipped, "dataset", "datasets");
        context.messages.warn(format!("skipped {datasets} that could not be read"));
    }
    let fields = json!({ "datasets": rows, "skipped": skipped });
    let names: BTreeSet<&str> = all.iter().map(|dataset| dataset.name.as_str()).collect();
    let has_equal_names = names.len() < all.len() && context.out.is_text();
    let shows_folder = connection.is_local() && (context.global.full || has_equal_names);
    let document = Document::new("tessera.datasets/1", fields);
    context.print(&if shows_folder {
        document.with_table("datasets with folders")
    } else {
        document
    })
}

pub(super) async fn show(connection: &Connection<'_>, dataset: Dataset, raw: bool) -> CliResult {
    if raw {
        let received = connection.client.dataset_fields(dataset.id).await?;
        let rows: Vec<Value> = received
            .iter()
            .map(|field| json!({ "name": field.name.received(), "value": field.value.received() }))
            .collect();
        let fields = json!({ "id": dataset.id, "fields": rows });
        let document = Document::new("tessera.fields/1", fields);
        return connection.context.print(&document);
    }
    warn_if_missing(connection, &dataset);
    let mut fields = dataset_document(&dataset);
    if !connection.is_local() {
        return connection.context.print(&Document::new("tessera.dataset/1", fields));
    }
    let folders = folders(connection)?;
    let unread = connection.unread_files(&dataset)?;
    let LocalDataset { folder_missing, uploads, excluded, patterns, encoding } =
        connection.client.local_dataset(dataset.id).await?;
    fields["_local"] = json!({
        "folder": folders.get(&dataset.id).map(|folder| folder.to_string_lossy()),
        "folder_missing": folder_missing,
        "uploads": uploads,
        "excluded": excluded,
        "patterns": patterns,
        "encoding": encoding.map(encoding_document),
        "n_unread": unread.all().count(),
        "unread": unread.describe(),
    });
    let document = Document::new("tessera.dataset/1", fields).with_table("local dataset");
    connection.context.print(&document)
}

/// Returns how far the media of a dataset are encoded.
pub(in crate::cli) fn encoding_document(encoding: EncodingProgress) -> Value {
    json!({
        "done": encoding.done,
        "total": encoding.total,
        "pictures_per_second": encoding.per_second,
        "seconds_left": encoding.seconds_left(),
    })
}

/// Warns that the folder of a dataset is missing, which its status does not say.
fn warn_if_missing(connection: &Connection<'_>, dataset: &Dataset) {
    if dataset.folder_missing && !connection.has_opened(dataset.id) {
        let name = &dataset.name;
        connection.context.messages.warn(format!(
            "the folder of {name} is missing or empty; its index is kept until the folder is back, or until you remove the dataset"
        ));
    }
}

/// Warns about the error of a dataset, for which the table has no column.
fn warn_if_failed(context: &Context, dataset: &Dataset) {
    if let (Status::Error, Some(cause)) = (&dataset.status, &dataset.error) {
        context.messages.warn(format!("{} is ERROR: {cause}", dataset.name));
    }
}

/// Prints a dataset, and plots of the labels, tags and caption words of all its images and objects. If the service has
/// no overview, the first page of its clusters is plotted.
pub(super) async fn plot(connection: &Connection<'_>, dataset: Dataset) -> CliResult {
    let context = connection.context;
    let (plots, exit) = match overviews(connection, &dataset).await? {
        Some([images, objects]) => (plot_overviews(&images, &objects), Exit::Done),
        None => plot_first_page(connection, &dataset).await?,
    };
    let fields = dataset_document(&dataset);
    context.print(&Document::new("tessera.dataset/1", fields))?;
    context.out.print_text(&format!("\n{plots}"))?;
    Ok(exit)
}

/// Returns the overviews of the images and of the objects, or `None` if the service has none.
async fn overviews(
    connection: &Connection<'_>,
    dataset: &Dataset,
) -> CliResult<Option<[Overview; 2]>> {
    let client = &connection.client;
    match client.overview(dataset.id, EntityType::Images).await {
        Ok(images) => {
            let objects = client.overview(dataset.id, EntityType::Objects).await?;
            Ok(Some([images, objects]))
        }
        Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

async fn plot_first_page(
    connection: &Connection<'_>,
    dataset: &Dataset,
) -> CliResult<(String, Exit)> {
    let context = connection.context;
    let defaults = &context.settings.search;
    let search = Search {
        entity: defaults.entity,
        granularity: defaults.granularity,
        ..Search::browse(dataset.id)
    };
    let page = connection.client.explore(&search).await?;
    let clusters = count_with_noun(page.clusters.len(), "cluster", "clusters");
    let has_more = page.may_have_next() && {
        let mut next = connection.client.explore(&Search { page: 1, ..search }).await?;
        next.drop_repeated(&mut page.clusters.iter().map(|cluster| cluster.id).collect());
        !next.clusters.is_empty()
    };
    let extent = if has_more { "only its largest" } else { "its" };
    context.messages.warn(format!(
        "this service counts no media by label; the plots count {extent} {clusters}"
    ));
    let exit = if has_more { Exit::Incomplete } else { Exit::Done };
    Ok((plot_clusters(&page.clusters), exit))
}

pub(super) fn dataset_document(dataset: &Dataset) -> Value {
    let permissions = [
        ("text_search", Operation::TextSearch),
        ("search_image", Operation::VisualSearch),
        ("export", Operation::Export),
        ("add_media", Operation::AddMedia),
        ("reindex", Operation::Reindex),
    ]
    .map(|(name, operation)| (name, dataset.status.allows(operation)));
    let (mut allowed, mut reasons) = (json!({}), json!({}));
    for (name, permission) in permissions {
        allowed[name] = match permission {
            Permission::Allowed => true.into(),
            Permission::Denied(_) => false.into(),
            // The API does not specify whether this is allowed, so only a response can show it.
            Permission::Unspecified | Permission::Confirm => Value::Null,
        };
        if let Some(reason) = permission.denial_reason() {
            reasons[name] = reason.into();
        }
    }
    let mut document = json!(DatasetBody::new(dataset));
    document["_status_is_legacy"] = dataset.status_is_legacy.into();
    document["_allowed"] = allowed;
    document["_reasons"] = reasons;
    document["_seen_at"] = json!(now_rfc3339());
    document
}
