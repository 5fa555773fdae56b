//! Scenes: a core in a certain state at a given size. The scenes in [`EVERY`] have snapshots at three sizes and in two
//! themes, and are also drawn at every other size.

use std::sync::Arc;

use tessera_config::DeploymentKind;
use tessera_interface::{
    app::Event,
    message::{JobId, Lane, Payload, WorkerEvent},
};
use tessera_model::{
    Archive, Dataset, Distribution, EntityType, Failure, FailureKind, FolderEntry, FolderListing,
    Inspection, LocalDataset, Overview, Page, PictureSource, Preflight, RecordField, Region,
    Relevance, RequestOutcome, RequestRecord, SafeText, ScoreKind, Selection, Status,
    check::{ConditionResult, Rule},
    ingest::UnreadableFile,
};
use tessera_picture::{Canvas, Encoded, PictureSubject, Protocol, Thumbnail};

use crate::support::app_harness::{AppHarness, cluster, dataset, folder_query, page, task};

/// Creates a picture whose colors identify it and show its orientation.
pub fn gradient(seed: u128, canvas: Canvas) -> Thumbnail {
    let (columns, rows) = (u32::from(canvas.columns), u32::from(canvas.rows) * 2);
    let shade = |at: u32, of: u32| u8::try_from(at * 255 / of).unwrap();
    let base = u8::try_from(seed % 251).unwrap();
    let pixels: Arc<[[u8; 3]]> = (0..rows)
        .flat_map(|y| (0..columns).map(move |x| [shade(x, columns), shade(y, rows), base]))
        .collect();
    Thumbnail {
        cells: (canvas.columns, canvas.rows),
        original: (640, 480),
        encoded: Encoded::Pixels(pixels),
        differing_pixels: None,
    }
}

/// Responds to all open picture requests.
pub fn paint(harness: &mut AppHarness) {
    while let Some(place) =
        harness.open.iter().position(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..)))
    {
        let (ticket, _) = harness.open.remove(place).unwrap();
        let Lane::Picture(ref sight, canvas) = ticket.lane else { unreachable!() };
        let seed = match sight.subject {
            PictureSubject::Media(media) => media.0.as_u128(),
            PictureSubject::File(_) | PictureSubject::ArchiveEntry(..) => 7,
            PictureSubject::Difference(one, other) => one.0.as_u128() ^ other.0.as_u128(),
        };
        harness.respond(ticket, Ok(Payload::Picture(gradient(seed, canvas))));
    }
}

pub fn several() -> Vec<Dataset> {
    let mut list = vec![
        dataset(1, Status::Ready),
        dataset(2, Status::Indexing),
        dataset(3, Status::ReadOnly),
        dataset(4, Status::PartialIndex),
        dataset(5, Status::Error),
        dataset(6, Status::parse("DRAFT")),
    ];
    list[1].progress = Some(41);
    list[4].error = Some(SafeText::detail("the disk is full"));
    list
}

/// Returns clusters with captions, labels, scores, and hostile names.
pub fn ranked() -> Page {
    let mut page = Page { fills_pages: true, ..Page::default() };
    for (number, score) in (0u128..).zip([0.0, 0.12, 0.31, 0.48, 0.77, 1.3]) {
        let mut each = cluster(number);
        each.relevance = Some(Relevance::new(score, ScoreKind::CosineDistance));
        each.n_images = Some([1, 12, 3_456, 2, 9, 1][usize::try_from(number).unwrap()]);
        each.captions = vec![SafeText::caption("A red balloon over green hills at dusk")];
        for preview in &mut each.previews {
            preview.relevance.clone_from(&each.relevance);
            preview.caption = Some(SafeText::caption(
                "A red balloon over green hills at dusk, seen from a far village",
            ));
        }
        page.clusters.push(each);
    }
    page.clusters[1].captions = vec![];
    page.clusters[1].previews[0].caption = None;
    page.clusters[1].labels = vec![SafeText::name("balloon"), SafeText::name("hills")];
    page.clusters[2].captions = vec![SafeText::caption("猫が\u{1b}[2J寝ている \u{202e}evil")];
    page
}

/// Shows datasets, clusters and pictures at a size.
pub fn browsing(columns: u16, rows: u16) -> AppHarness {
    browsed(AppHarness::with_pictures(Protocol::HalfBlock), columns, rows)
}

/// Resizes a core at its start, and loads datasets, clusters and pictures.
pub fn browsed(mut harness: AppHarness, columns: u16, rows: u16) -> AppHarness {
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(several(), 0));
    harness.answer_page(page(0, 40));
    paint(&mut harness);
    harness
}

/// Shows pictures of several shapes in a mosaic.
pub fn mosaic(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let mut pictures = page(0, 40);
    let shapes = [(1_200, 800), (600, 900), (800, 800), (2_400, 700), (480, 1_040)];
    for (cluster, shape) in pictures.clusters.iter_mut().zip(shapes.into_iter().cycle()) {
        cluster.previews[0].dimensions = Some(shape);
    }
    harness.answer_page(pictures);
    harness.press("2 g r l j space l");
    paint(&mut harness);
    harness
}

/// Shows a local dataset whose whole result is sorted by date.
pub fn sorted_files(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local(columns, rows);
    harness.press("2 ,");
    harness.type_text("newest");
    harness.press("enter");
    harness.answer_page(page(5, 100));
    paint(&mut harness);
    harness
}

/// Looks for a name on all pages of a service, while it runs with a match or after it ended without one.
pub fn name_scan(columns: u16, rows: u16, in_vain: bool) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("2 /");
    harness.type_text(if in_vain { "zebra" } else { "1502" });
    harness.press("tab");
    for number in [0, 100] {
        let mut found = page(number, 100);
        found.clusters[0].n_images = Some(1_203);
        for cluster in &mut found.clusters {
            cluster.labels = vec![SafeText::name("vehicles")];
        }
        harness.answer_page(found);
    }
    if in_vain {
        harness.answer_page(page(200, 40));
    }
    paint(&mut harness);
    harness
}

pub fn similar(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("f");
    harness.answer_page(ranked());
    paint(&mut harness);
    harness
}

/// Shows a job in each state.
pub fn with_jobs(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    for _ in 0..4 {
        harness.press("e enter");
    }
    harness.answer(Lane::StartJob(JobId(0)), Payload::Export(task("COMPLETED")));
    let path = "/downloads/set-1.zip".into();
    harness.answer(
        Lane::Download(JobId(0)),
        Payload::Downloaded(Archive { path, bytes: 11_400_000, entries: 241, images: 240 }),
    );
    harness.answer(Lane::StartJob(JobId(1)), Payload::Export(task("IN_PROGRESS")));
    harness.fail(Lane::StartJob(JobId(2)), FailureKind::NoResponse);
    harness.wait(5);
    harness
}

/// Shows a core at a size, before any response.
pub fn loading(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::new();
    harness.happen(Event::Resize(columns, rows));
    harness
}

pub fn datasets(columns: u16, rows: u16) -> AppHarness {
    browsing(columns, rows).pressing("1 j j j j")
}

/// Shows a missing folder, and asks before its dataset with uploads is removed.
pub fn removing(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local(columns, rows);
    harness.press("1 D");
    let id = harness.app.selected_dataset().unwrap().id;
    let local = LocalDataset {
        folder_missing: true,
        uploads: 3,
        excluded: 0,
        patterns: tessera_model::PatternLists::default(),
        encoding: None,
    };
    harness.answer(Lane::ConfirmRemoval(id), Payload::LocalDataset(local));
    harness
}

/// Searches captions in a local folder, and finds nothing.
fn searching_in_vain(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local(columns, rows);
    harness.press("c");
    harness.type_text("dog");
    harness.press("enter");
    harness.answer_page(page(0, 0));
    harness
}

/// Offers a model below the results of a local folder.
pub fn offering_model(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local(columns, rows);
    let models = serde_json::json!({ "CAPTION_IMAGES": { "id": "space" } });
    let body = serde_json::json!({ "dataset_enrichment_models": { "enrichment_models": models } });
    harness.answer_enrichments(&body);
    harness
}

/// Lists the models.
pub fn models(columns: u16, rows: u16) -> AppHarness {
    searching_in_vain(columns, rows).pressing("g a")
}

/// Says what a model downloads.
pub fn model_sizes(columns: u16, rows: u16) -> AppHarness {
    let mut harness = models(columns, rows);
    harness.press("2");
    let name = "Xenova/clip-vit-base-patch32".to_owned();
    let plan = tessera_model::ModelPlan { name, files: 6, bytes: 607_000_000, note: "" };
    harness.answer(Lane::PlanModel, Payload::ModelPlanned(plan));
    harness
}

/// Downloads a model.
pub fn getting_model(columns: u16, rows: u16) -> AppHarness {
    let mut harness = model_sizes(columns, rows);
    harness.press("enter");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::GetModel(_)));
    for done in [100_000_000, 120_000_000, 140_000_000, 160_000_000] {
        harness.wait(2);
        let progress = tessera_interface::message::RequestProgress {
            ticket: ticket.clone(),
            done,
            total: Some(607_000_000),
        };
        harness.happen(Event::Worker(WorkerEvent::Progress(progress)));
    }
    harness.press("4");
    harness
}

/// Shows datasets of local folders, of which the first one is missing.
pub fn local(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.happen(Event::Resize(columns, rows));
    let mut list = several();
    list[0].folder_missing = true;
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    harness.answer_page(page(0, 40));
    paint(&mut harness);
    harness
}

pub fn local_and(columns: u16, rows: u16, keys: &str) -> AppHarness {
    local(columns, rows).pressing(keys)
}

/// Asks whether the sets of a split replace saved selections.
pub fn replacing_sets(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local_and(columns, rows, "g S enter");
    let names = ["train", "val"].map(SafeText::name).to_vec();
    harness.answer(Lane::Split(dataset(1, Status::Ready).id), Payload::SetNamesTaken(names));
    harness
}

/// Shows the results of a check.
pub fn checked(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local_and(columns, rows, "g c enter");
    let results = [
        (Rule::Duplicates, "duplicates", "at most 1%", 3, false),
        (Rule::Blur, "blur", "at most 2%", 4, true),
        (Rule::Captions, "without a caption", "at most 0", 1_240, false),
        (Rule::Leaks, "leaks from selection:train to selection:val", "at most 0", 0, true),
    ];
    let results = results.map(|(rule, name, limit, found, passed)| ConditionResult {
        rule,
        name: SafeText::name(name),
        limit: limit.to_owned(),
        found,
        passed,
        media: Selection::default(),
    });
    let lane = Lane::Check(dataset(1, Status::Ready).id);
    harness.answer(lane, Payload::Checked(results.to_vec()));
    harness
}

pub fn detail(columns: u16, rows: u16) -> AppHarness {
    let mut harness = similar(columns, rows);
    harness.press("l enter l");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no such path")));
    paint(&mut harness);
    harness
}

pub fn help(columns: u16, rows: u16) -> AppHarness {
    browsing(columns, rows).pressing("?")
}

pub fn log(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    let outcomes = [
        RequestOutcome::Succeeded { status: 200, bytes: 2_048 },
        RequestOutcome::Rejected { status: 409, message: Some(SafeText::detail("not READY")) },
        RequestOutcome::Failed(SafeText::detail("the connection was closed")),
    ];
    for outcome in outcomes {
        harness.wait(3);
        harness.happen(Event::Worker(WorkerEvent::Exchange(RequestRecord {
            purpose: "list the datasets",
            method: "GET",
            target: SafeText::detail("/api/v1/datasets"),
            attempt: 1,
            duration: std::time::Duration::from_millis(31),
            bytes_sent: 0,
            outcome,
            retry_in: None,
        })));
    }
    harness.press("@");
    harness
}

pub fn record(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("1 i");
    let field = |(name, value): (&str, &str)| RecordField {
        name: SafeText::name(name),
        value: SafeText::detail(value),
    };
    let fields = [("created_at", "2026-11-21T09:00:00"), ("flux_level", "7")].map(field);
    let id = several()[0].id;
    harness.answer(Lane::Record(id), Payload::Record(fields.to_vec()));
    harness
}

pub fn export_form(columns: u16, rows: u16) -> AppHarness {
    browsing(columns, rows).pressing("e tab tab")
}

pub fn file_picker(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("F");
    let entry = |name: &str, is_folder, bytes| FolderEntry {
        name: SafeText::file_name(name),
        file_name: name.into(),
        is_folder,
        bytes,
    };
    let entries = vec![
        entry("holidays", true, 0),
        entry("notes.txt", false, 812),
        entry("van.jpg", false, 2_400_000),
        entry("vase.png", false, 93_000),
        entry("with a \u{1b}[31m bad name.webp", false, 5_100),
    ];
    let listed = FolderListing { path: ".".into(), entries, omitted: 1_200 };
    harness.answer(Lane::Folder(folder_query(".", "")), Payload::Folder(listed));
    harness.press("down down");
    paint(&mut harness);
    harness
}

pub fn region_picker(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("b l j");
    paint(&mut harness);
    harness
}

pub fn region_numbers(columns: u16, rows: u16) -> AppHarness {
    region_picker(columns, rows).pressing("tab tab tab ctrl-u 0 . 9 9")
}

pub fn framed_detail(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let mut objects = page(0, 3);
    for cluster in &mut objects.clusters {
        cluster.previews[0].region = Region::new(0.2, 0.3, 0.4, 0.5);
    }
    harness.answer_page(objects);
    harness.press("enter");
    paint(&mut harness);
    harness
}

pub fn file_line(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("F");
    harness.type_text(
        "~/pictures/a very long path that does not fit into the line of the form at all/cat.jpg",
    );
    harness
}

pub fn failed(columns: u16, rows: u16) -> AppHarness {
    let mut harness = loading(columns, rows);
    let (ticket, _) = harness.take(|lane| *lane == Lane::Datasets);
    let failure = Failure::new(FailureKind::Unreachable, "media.example refuses the connection")
        .with_remedy("Check the address and that the service runs");
    harness.respond(ticket, Err(failure));
    harness
}

pub fn stale(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.wait(20);
    harness.fail(Lane::Datasets, FailureKind::NoResponse);
    harness.press("r");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    harness.respond(ticket, Err(Failure::new(FailureKind::NoResponse, "no answer within 30 s")));
    harness
}

pub fn no_clusters_yet(columns: u16, rows: u16) -> AppHarness {
    let mut harness = loading(columns, rows);
    let mut fresh = dataset(1, Status::Indexing);
    fresh.progress = Some(63);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![fresh], 0));
    harness.answer_page(Page::default());
    harness
}

/// Shows the query builder with complete, incomplete, doubtful and disabled rows.
pub fn query(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    for (kind, value) in [("1", "red van at night"), ("2", "van"), ("5", "0.9x"), ("4", "blur")] {
        harness.press(&format!("3 a {kind}"));
        harness.type_text(value);
        harness.press("esc");
    }
    harness.press("space k k enter");
    harness.type_text("truck");
    harness.press("esc j enter");
    harness
}

/// Shows the query builder with invalid JSON.
pub fn query_json(columns: u16, rows: u16) -> AppHarness {
    query(columns, rows).pressing("esc d tab end enter ]")
}

/// Shows chips above an empty result.
pub fn chips(columns: u16, rows: u16) -> AppHarness {
    let mut harness = query(columns, rows);
    harness.press("esc d f5");
    harness.answer_page(Page::default());
    harness
}

/// Shows the form of a caption search over the results of an earlier one.
pub fn caption_line(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("c v enter");
    harness.answer_page(ranked());
    paint(&mut harness);
    harness.press("c tab 0 . 4");
    harness
}

/// Shows the histogram of scores over results, with a cut.
pub fn score_histogram(columns: u16, rows: u16) -> AppHarness {
    let mut harness = similar(columns, rows);
    harness.press("g h down down");
    paint(&mut harness);
    harness
}

/// Shows the facets of results with labels and captions.
pub fn facets(columns: u16, rows: u16) -> AppHarness {
    let mut harness = similar(columns, rows);
    harness.press("g f");
    // Services of the API document count no media.
    for _ in 0..2 {
        let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(..)));
        harness.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no overview")));
    }
    harness.press("tab j");
    harness
}

/// Shows the dates of a local dataset as bars.
pub fn facets_dates(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local(columns, rows);
    harness.press("2 g f");
    let days = (1..=9).map(|month| (format!("2024-0{month}-11"), month * month % 7 + 3));
    let days: Vec<(String, u64)> = days.collect();
    let days = Distribution::of_days(days.iter().map(|(day, count)| (day.as_str(), *count)));
    let overview = Overview { media: Some(50), distributions: vec![days], ..Overview::default() };
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    harness.respond(ticket, Ok(Payload::Overview(overview)));
    harness.press("tab j j");
    harness
}

/// Shows a selection with each kind of entry, some of them on another page.
pub fn with_marks(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(several(), 0));
    harness.answer_page(page(100, 100));
    harness.press("space l space n");
    harness.answer_page(page(0, 40));
    harness.press("space l space x l enter l space esc");
    paint(&mut harness);
    harness
}

/// Shows what these keys open while browsing.
pub fn browsing_and(columns: u16, rows: u16, keys: &str) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press(keys);
    paint(&mut harness);
    harness
}

/// Shows what these keys open with a selection.
pub fn marked_and(columns: u16, rows: u16, keys: &str) -> AppHarness {
    let mut harness = with_marks(columns, rows);
    harness.press(keys);
    paint(&mut harness);
    harness
}

/// Shows the form that adds media, after the check of the files.
pub fn adding(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("A");
    harness.type_text("~/new '/data/more pictures'");
    harness.press("enter");
    let unreadable = UnreadableFile {
        name: SafeText::file_name("broken.jpg"),
        reason: SafeText::detail("ends in the middle"),
    };
    let found = Preflight {
        images: 1_204,
        videos: 3,
        bytes: 482_000_000,
        skipped: 2,
        unreadable: 1,
        unreadable_files: vec![unreadable],
        folders: Vec::new(),
        warnings: vec![],
    };
    harness.answer(Lane::Preflight, Payload::Preflight(found));
    harness
}

/// Shows the detail of a job that has been in several states.
pub fn timeline(columns: u16, rows: u16) -> AppHarness {
    let mut harness = browsing(columns, rows);
    harness.press("e enter");
    for word in ["INIT", "IN_PROGRESS", "COMPLETED"] {
        let (ticket, _) =
            harness.take(|lane| matches!(lane, Lane::StartJob(JobId(0)) | Lane::Export(JobId(0))));
        harness.respond(ticket, Ok(Payload::Export(task(word))));
        harness.wait(3);
    }
    harness.press("esc 4 enter");
    harness
}

/// Shows the inspector of a downloaded archive whose annotations are in files of another format.
pub fn inside_plain(columns: u16, rows: u16) -> AppHarness {
    let mut harness = with_jobs(columns, rows);
    harness.press("esc 4 G i");
    let found = Inspection {
        path: "/downloads/set-1.zip".into(),
        metadata_file: SafeText::file_name("labels/1.txt"),
        annotation_files: 18,
        format: tessera_model::ExportFormat::Yolo,
        images: 17,
        ..Inspection::default()
    };
    harness.answer(Lane::Inspect, Payload::Inspection(Box::new(found)));
    harness
}

/// Shows the inspector of a downloaded archive.
pub fn inside(columns: u16, rows: u16) -> AppHarness {
    let mut harness = with_jobs(columns, rows);
    harness.press("esc 4 G i");
    let path = std::path::PathBuf::from("/downloads/set-1.zip");
    let images = (0..40).map(|n| PictureSource::Entry(path.clone(), format!("images/{n}.jpg")));
    let found = Inspection {
        path: path.clone(),
        bytes: 11_400_000,
        metadata_file: SafeText::file_name("metadata.parquet"),
        annotation_files: 0,
        format: tessera_model::ExportFormat::Parquet,
        rows: 240,
        columns: ["media_id", "image_filename", "uniqueness_score"].map(SafeText::name).to_vec(),
        uniqueness: [2, 0, 4, 9, 17, 31, 58, 64, 41, 12],
        unscored: 2,
        frames: 0,
        videos: 0,
        images: 239,
        first_images: images.collect(),
        rows_without_file: tessera_model::export::NameSample {
            count: 1,
            first: vec![SafeText::file_name("x.jpg")],
        },
        files_without_row: tessera_model::export::NameSample::default(),
        unsafe_entries: tessera_model::export::NameSample::default(),
    };
    harness.answer(Lane::Inspect, Payload::Inspection(Box::new(found)));
    paint(&mut harness);
    harness
}
