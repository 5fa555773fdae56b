//! Level 3: screens, styled, as a person sees them. A change of any of these files is a change of
//! what people see, and is reviewed as one.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../update/desk.rs"]
#[expect(dead_code, reason = "shared with the tests of the core, which use more of it")]
mod desk;
#[path = "../support/styled.rs"]
mod styled;

use std::sync::Arc;

use desk::{Desk, cluster, dataset, page, task};
use ratatui::{buffer::Buffer, layout::Rect};
use styled::styled;
use tessera::{
    app::Event,
    message::{Answer, JobId, Lane},
    model::{Archive, Failure, FailureKind, Page, Relevance, SafeText, ScoreKind, Status},
    picture::{Canvas, Encoded, Protocol, Thumbnail},
    ui::{
        self, Layer, Theme,
        layer::{Colours, Surface},
        theme::ThemeName,
    },
};

/// A picture whose colours tell which it is and which way up.
fn gradient(seed: u128, canvas: Canvas) -> Thumbnail {
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
    }
}

/// Answers every open picture request.
fn paint(desk: &mut Desk) {
    while let Some(place) =
        desk.open.iter().position(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..)))
    {
        let (ticket, _) = desk.open.remove(place).unwrap();
        let Lane::Picture(media, canvas) = ticket.lane else { unreachable!() };
        desk.respond(ticket, Ok(Answer::Picture(gradient(media.0.as_u128(), canvas))));
    }
}

fn layer() -> Layer {
    Layer::new(Surface { in_tmux: false, colours: Colours::Exact })
}

fn screen_in(desk: &Desk, theme: ThemeName) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, desk.app.size.0, desk.app.size.1));
    ui::draw(&desk.app, &Theme::shipped(theme).unwrap(), &mut buffer, &mut layer());
    styled(&buffer)
}

fn screen(desk: &Desk) -> String {
    screen_in(desk, ThemeName::Dark)
}

fn several() -> Vec<tessera::model::Dataset> {
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

/// Clusters with captions, labels, scores, and names from hell.
fn ranked() -> Page {
    let mut page = Page::default();
    for (number, score) in (0u128..).zip([0.0, 0.12, 0.31, 0.48, 0.77, 1.3]) {
        let mut each = cluster(number);
        each.relevance = Some(Relevance { score, kind: ScoreKind::CosineDistance });
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

/// A desk at a size, with datasets, clusters and pictures.
fn browsing(columns: u16, rows: u16) -> Desk {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock);
    desk.happen(Event::Resize(columns, rows));
    desk.answer(Lane::Datasets, Answer::Datasets(several(), 0));
    desk.answer_page(page(0, 40));
    paint(&mut desk);
    desk
}

fn similar(columns: u16, rows: u16) -> Desk {
    let mut desk = browsing(columns, rows);
    desk.press("f");
    desk.answer_page(ranked());
    paint(&mut desk);
    desk
}

/// One job in each way it can stand.
fn with_jobs(columns: u16, rows: u16) -> Desk {
    let mut desk = browsing(columns, rows);
    for _ in 0..4 {
        desk.press("e enter");
    }
    desk.answer(Lane::Start(JobId(0)), Answer::Export(task("COMPLETED")));
    let path = "/downloads/set-1.zip".into();
    desk.answer(
        Lane::Download(JobId(0)),
        Answer::Downloaded(Archive { path, bytes: 11_400_000, entries: 241, images: 240 }),
    );
    desk.answer(Lane::Start(JobId(1)), Answer::Export(task("IN_PROGRESS")));
    desk.fail(Lane::Start(JobId(2)), FailureKind::NoAnswer);
    desk.wait(5);
    desk
}

macro_rules! screens {
    ($($name:ident: $screen:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!($screen); })*
    };
}

screens! {
    loading_120x40: screen(&Desk::new());
    browse_80x24: screen(&browsing(80, 24));
    browse_120x40: screen(&browsing(120, 40));
    browse_200x60: screen(&browsing(200, 60));
    similar_80x24: screen(&similar(80, 24));
    similar_120x40: screen(&similar(120, 40));
    similar_plain_120x40: screen_in(&similar(120, 40), ThemeName::Plain);
    jobs_120x40: screen(&with_jobs(120, 40));
    compact_list_50x14: screen(&similar(50, 14));
    too_small_20x5: screen(&browsing(20, 5));
    datasets_80x24: {
        let mut desk = browsing(80, 24);
        desk.press("1 j j j j");
        screen(&desk)
    };
    detail_80x24: {
        let mut desk = similar(80, 24);
        desk.press("l enter l");
        paint(&mut desk);
        screen(&desk)
    };
    help_80x24: {
        let mut desk = browsing(80, 24);
        desk.press("?");
        screen(&desk)
    };
    export_form_80x24: {
        let mut desk = browsing(80, 24);
        desk.press("e tab tab");
        screen(&desk)
    };
    file_line_80x24: {
        let mut desk = browsing(80, 24);
        desk.press("F");
        desk.type_text("~/pictures/a very long path that does not fit into the line of the form at all/cat.jpg");
        screen(&desk)
    };
    failed_120x40: {
        let mut desk = Desk::new();
        let (ticket, _) = desk.take(|lane| *lane == Lane::Datasets);
        let failure = Failure::new(FailureKind::Unreachable, "media.example refuses the connection")
            .remedy("Check the address and that the service runs");
        desk.respond(ticket, Err(failure));
        screen(&desk)
    };
    stale_120x40: {
        let mut desk = browsing(120, 40);
        desk.wait(20);
        desk.fail(Lane::Datasets, FailureKind::NoAnswer);
        desk.press("r");
        let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
        desk.respond(ticket, Err(Failure::new(FailureKind::NoAnswer, "no answer within 30 s")));
        screen(&desk)
    };
    no_clusters_yet_120x40: {
        let mut desk = Desk::new();
        let mut fresh = dataset(1, Status::Indexing);
        fresh.progress = Some(63);
        desk.answer(Lane::Datasets, Answer::Datasets(vec![fresh], 0));
        desk.answer_page(Page::default());
        screen(&desk)
    };
}

#[test]
fn t14_every_status_is_told_without_colour() {
    let shown = screen_in(&browsing(80, 24), ThemeName::Plain);
    let mut desk = browsing(80, 24);
    desk.press("1");
    let list = screen_in(&desk, ThemeName::Plain);
    assert!(!shown.contains("rgb(") && !list.contains("cyan") && !list.contains("green"));
    for word in
        ["● set-1", "◔ set-2", "INDEXING 41%", "READ ONLY", "PARTIAL INDEX", "ERROR", "DRAFT"]
    {
        assert!(list.contains(word), "{word} is missing:\n{list}");
    }
}

#[test]
fn t01_names_from_hell_reach_no_cell_raw() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    let desk = similar(120, 40);
    ui::draw(&desk.app, &Theme::shipped(ThemeName::Dark).unwrap(), &mut buffer, &mut layer());
    for cell in buffer.content() {
        let symbol = cell.symbol();
        assert!(symbol.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{symbol:?}");
    }
}
