//! Every request of the client, by name: how often it is sent when the service misbehaves, and how it is made. A new
//! endpoint has a row and an arm here, and a file of bodies in `tests/recorded`.

use tessera_client::{AuthMethod, BaseUrl, Client, ExistingFile, QueryImageUpload, ServiceConfig};
use tessera_model::{
    ArchiveName, EntityType, ExportFormat, ExportPreview, ExportSpec, Failure, FileChanges,
    Granularity, Link, LocalDataset, MediaAddition, MediaId, MediaSource, PatternLists, Query,
    QueryText, RescanResult, Search, SelectionItem, TagChange, TagColor, TagDefinitionChange,
    TagEdit, TagTarget,
};
use tessera_testing::clients::{dataset, hosted, task, without_pauses};

use crate::recorded_readings::{
    dataset_line, list_lines, map_lines, overview_lines, page_lines, preview_line, task_line,
};

/// Requests per fault, in the order of the faults; only those of an addition that add are counted. Pictures and
/// archives carry no login, so a 401 is not an expired token; for an archive it means an expired link, and three new
/// ones are tried. A pipeline has no login either, and a session cannot be renewed.
#[rustfmt::skip]
pub(crate) const TABLE: [(&str, [usize; 8]); 30] = [
    //                          refused  cut  cut  401  409  429  500  503
    ("datasets",                [0,      3,   3,   2,   1,   3,   3,   3]),
    ("dataset",                 [0,      3,   3,   2,   1,   3,   3,   3]),
    ("enrichment_context",      [0,      3,   3,   2,   1,   3,   3,   3]),
    ("export_status",           [0,      3,   3,   2,   1,   3,   3,   3]),
    ("explore",                 [0,      3,   3,   2,   1,   3,   3,   3]),
    ("explore by caption",      [0,      3,   3,   2,   1,   3,   3,   3]),
    ("similarity_cluster",      [0,      3,   3,   2,   1,   3,   3,   3]),
    ("exploration_metadata",    [0,      3,   3,   2,   1,   3,   3,   3]),
    ("picture",                 [0,      3,   3,   1,   1,   3,   3,   3]),
    ("archive",                 [0,      5,   5,   4,   1,   5,   5,   5]),
    ("search_image_similarity", [0,      2,   2,   2,   1,   2,   2,   2]),
    ("export_context_async",    [0,      1,   1,   2,   1,   1,   1,   1]),
    ("export_entities_async",   [0,      1,   1,   2,   1,   1,   1,   1]),
    ("add_media s3_uri",        [0,      1,   1,   2,   1,   1,   1,   1]),
    ("add_media files",         [0,      1,   1,   2,   1,   1,   1,   1]),
    ("reindex",                 [0,      1,   1,   2,   1,   1,   1,   1]),
    ("local_dataset",           [0,      3,   3,   2,   1,   3,   3,   3]),
    ("export_preview",          [0,      3,   3,   2,   1,   3,   3,   3]),
    ("remove_dataset",          [0,      1,   1,   2,   1,   1,   1,   1]),
    ("rename_dataset",          [0,      1,   1,   2,   1,   1,   1,   1]),
    ("rescan",                  [0,      1,   1,   2,   1,   1,   1,   1]),
    ("cancel_indexing",         [0,      1,   1,   2,   1,   1,   1,   1]),
    ("cancel_export",           [0,      1,   1,   2,   1,   1,   1,   1]),
    ("tags",                    [0,      3,   3,   2,   1,   3,   3,   3]),
    ("change_tags",             [0,      1,   1,   2,   1,   1,   1,   1]),
    ("define_tag",              [0,      1,   1,   2,   1,   1,   1,   1]),
    ("undo_tags",               [0,      1,   1,   2,   1,   1,   1,   1]),
    ("map",                     [0,      3,   3,   2,   1,   3,   3,   3]),
    ("process_add_media",       [0,      1,   1,   1,   1,   1,   1,   1]),
    ("api_credentials",         [0,      1,   1,   1,   1,   1,   1,   1]),
];

/// A client of the service at an address, with the login that a request needs.
pub(crate) fn client_for(request: &str, url: &str) -> Client {
    let base = BaseUrl::parse(url).unwrap();
    let service = match request {
        "api_credentials" => {
            ServiceConfig::new(base, AuthMethod::Session("a session".into())).unwrap()
        }
        _ => hosted(url, without_pauses()).service().clone().with_pipeline(base),
    };
    Client::with_policy(service, without_pauses()).unwrap()
}

/// Makes a request and returns what the client has read, as lines. `link` leads to a picture or an archive.
#[expect(clippy::too_many_lines, reason = "an arm for each request")]
pub(crate) async fn perform(
    request: &str,
    client: &Client,
    link: &str,
) -> Result<Vec<String>, Failure> {
    let format = ExportFormat::Json;
    let single = |line: String| vec![line];
    match request {
        "datasets" => client.list_datasets().await.map(|list| list_lines(&list)),
        "dataset" => client.dataset(dataset()).await.map(|read| single(dataset_line(&read))),
        "explore" => client.explore(&Search::browse(dataset())).await.map(|page| page_lines(&page)),
        "explore by caption" => {
            let query = Query::Caption { text: QueryText::new("a van").unwrap(), max_score: None };
            let search = Search { query, ..Search::browse(dataset()) };
            client.explore(&search).await.map(|page| page_lines(&page))
        }
        "similarity_cluster" => {
            let cluster = "9a205a5e-0000-46be-83a3-000000000001".parse().unwrap();
            let members = client.cluster_members(&Search::browse(dataset()), cluster).await;
            members.map(|members| members.iter().map(preview_line).collect())
        }
        "exploration_metadata" => {
            let overview = client.overview(dataset(), EntityType::Objects).await;
            overview.map(|overview| overview_lines(&overview))
        }
        "search_image_similarity" => {
            let (entity, granularity) = (EntityType::Images, Granularity::DEFAULT);
            let bytes = b"\xff\xd8\xff\xe0 a picture"[..].into();
            let image = QueryImageUpload::new(bytes, "a.jpg").await?;
            let anchor = client.register_anchor(dataset(), image, entity, granularity, None);
            let anchor = anchor.await?;
            Ok(single(format!("anchor {} {}", anchor.media, anchor.kind.as_str())))
        }
        "export_context_async" => {
            let file_name = ArchiveName::new("demo");
            let spec = ExportSpec { file_name, format, include_images: false };
            client.start_export(dataset(), &spec).await.map(|it| single(task_line(&it)))
        }
        "export_entities_async" => {
            let selection = vec![SelectionItem::Media(vec![MediaId(task().0)])].into();
            let start = client.start_selective_export(dataset(), format, false, &selection);
            start.await.map(|it| single(task_line(&it)))
        }
        "cancel_export" => {
            client.cancel_export(dataset(), task()).await.map(|it| single(task_line(&it)))
        }
        "export_status" => {
            client.export_status(dataset(), task()).await.map(|it| single(task_line(&it)))
        }
        "add_media" | "add_media s3_uri" => {
            add(client, MediaSource::Storage("s3://bucket/new/".into())).await
        }
        "add_media files" => {
            let folder = tempfile::tempdir().unwrap();
            let image = folder.path().join("query.png");
            ::image::RgbImage::new(4, 4).save(&image).unwrap();
            add(client, MediaSource::Files(vec![image])).await
        }
        "process_add_media" => add(client, MediaSource::ServerPath("/data/new".into())).await,
        "reindex" => client.reindex(dataset()).await.map(|_| single("accepted".to_owned())),
        "local_dataset" => client.local_dataset(dataset()).await.map(|local| {
            let LocalDataset { folder_missing, uploads, excluded, patterns, encoding } = local;
            let PatternLists { include, exclude } = patterns;
            let encoded = encoding.map_or_else(String::new, |it| {
                format!(", encoded {} of {}, {:?} a second", it.done, it.total, it.per_second)
            });
            single(format!(
                "missing {folder_missing}, uploads {uploads}, excluded {excluded}, only {include:?}, not {exclude:?}{encoded}"
            ))
        }),
        "export_preview" => {
            let preview = client.export_preview(dataset(), ExportFormat::Yolo, true, None);
            preview.await.map(|ExportPreview { media_count, omissions }| {
                let omissions: Vec<_> =
                    omissions.iter().map(|it| format!("{} ({})", it.text, it.count)).collect();
                single(format!("{media_count} media: {}", omissions.join(", ")))
            })
        }
        "remove_dataset" => client
            .remove_dataset(dataset())
            .await
            .map(|uploads| single(format!("uploads {uploads}"))),
        "rename_dataset" => {
            client.rename_dataset(dataset(), "my photos").await.map(|it| single(dataset_line(&it)))
        }
        "cancel_indexing" => {
            client.cancel_indexing(dataset()).await.map(|it| single(dataset_line(&it)))
        }
        "rescan" => client.rescan(dataset(), None).await.map(|RescanResult { changes, is_indexing }| {
            let changes = changes.map(|FileChanges { added, changed, removed }| {
                format!("added {added}, changed {changed}, removed {removed}")
            });
            let changes = changes.unwrap_or_else(|| "in the background".to_owned());
            single(format!("{changes}, indexing {is_indexing}"))
        }),
        "tags" => client.tags(dataset()).await.map(|list| {
            let tags = list.tags.iter();
            let mut lines: Vec<String> = tags
                .map(|tag| {
                    let color = tag.color.map_or("-", TagColor::as_str);
                    format!("{} {} {color} {}", tag.id, tag.name, tag.count)
                })
                .collect();
            lines.extend(list.last_change.map(|change| format!("last change: {change}")));
            lines.extend(list.file_problems.iter().map(|problem| format!("problem: {problem}")));
            lines
        }),
        "change_tags" => {
            let items = [SelectionItem::Media(vec![MediaId(task().0)])];
            let edit = TagEdit::new(["night"], ["day"], Some(3)).unwrap();
            let target = TagTarget::Selection(items.to_vec());
            client.change_tags(dataset(), &target, &edit).await.map(|it| tag_change_lines(&it))
        }
        "define_tag" => {
            let rename = TagDefinitionChange::Rename("dark".to_owned());
            let change = client.define_tag(dataset(), "night", &rename).await;
            change.map(|it| tag_change_lines(&it))
        }
        "undo_tags" => client.undo_tags(dataset(), None).await.map(|it| tag_change_lines(&it)),
        "map" => client.map(&Search::browse(dataset())).await.map(|map| map_lines(&map)),
        "enrichment_context" => client.enrichment(dataset()).await.map(|enrichment| {
            single(enrichment.statuses.map(|status| format!("{status:?}")).join(" "))
        }),
        "api_credentials" => client.create_credentials().await.map(|issued| {
            let secret = if issued.api_secret.is_some() { "a secret" } else { "no secret" };
            let message = issued.message.map(|it| it.to_string()).unwrap_or_default();
            single(format!("key {} with {secret}: {message}", issued.api_key))
        }),
        "picture" => client.fetch_picture(&Link::new(link), 1_000).await.map(|_| Vec::new()),
        "archive" => {
            let folder = tempfile::tempdir().unwrap();
            let (target, keep) = (folder.path().join("x.zip"), ExistingFile::Keep);
            let mut report = |_, _| {};
            let download = client.download(dataset(), task(), &target, keep, &mut report);
            download.await.map(|_| Vec::new())
        }
        other => unreachable!("no request {other}"),
    }
}

fn tag_change_lines(change: &TagChange) -> Vec<String> {
    let id = change.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let mut lines = vec![format!("{id} changed {}, kept {}", change.changed, change.kept)];
    lines.extend(change.file_problems.iter().map(|problem| format!("problem: {problem}")));
    lines
}

async fn add(client: &Client, source: MediaSource) -> Result<Vec<String>, Failure> {
    let addition = MediaAddition::new(source);
    client.add_media(dataset(), &addition, &mut |_, _| {}).await?;
    Ok(vec!["accepted".to_owned()])
}
