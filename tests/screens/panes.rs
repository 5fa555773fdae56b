//! What the panes show of their room: positions, lines in place of panes, and text that is not cut.

use std::time::Duration;

use ratatui::{buffer::Buffer, layout::Rect};
use tessera::{
    app::{Event, areas::inner_area, detail_layout::DetailLayout},
    message::{JobId, Lane},
    ui::theme::ThemeName,
};
use tessera_model::{Failure, FailureKind, Page, RequestOutcome, RequestRecord, SafeText};

use super::{drawn, row, screen_in};
use crate::support::{
    desk::{Desk, page},
    scene::{browsing, help, similar, timeline},
    styled::styled,
};

#[test]
fn the_position_in_the_search_is_shown_with_the_total_once_it_is_known() {
    let mut desk = Desk::with_clusters(100);
    desk.happen(Event::Resize(80, 24));
    let heading = |desk: &Desk| row(&drawn(desk, ThemeName::Plain), 2);
    assert!(
        heading(&desk).contains("clusters 1-100 · granularity 2 · page 1"),
        "{}",
        heading(&desk)
    );
    desk.press("n");
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("loading page 2   Esc stay here"), "{shown}");
    desk.answer_page(page(100, 34));
    assert!(heading(&desk).contains("clusters 101-134 of 134"), "{}", heading(&desk));
    desk.press("p");
    assert!(heading(&desk).contains("clusters 1-100 of 134"), "{}", heading(&desk));
}

#[test]
fn a_search_among_the_nearest_media_says_so() {
    let mut desk = browsing(120, 40);
    desk.press("f");
    desk.answer_page(Page { is_bounded: true, ..page(0, 3) });
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("2 Results  only the nearest media · 3 clusters"), "{shown}");
}

#[test]
fn a_page_that_fails_is_reported_beside_the_one_that_stays() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    desk.respond(ticket, Err(Failure::new(FailureKind::Server, "it broke")));
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("page 2: r tries again, Esc stays here: it broke"), "{shown}");
    assert!(shown.contains("0.jpg"), "{shown}");
}

#[test]
fn members_are_shown_under_the_name_of_their_cluster() {
    let mut desk = similar(120, 40);
    desk.press("l l l enter");
    let heading = row(&drawn(&desk, ThemeName::Plain), 1);
    assert!(heading.contains("members of “A red balloon over"), "{heading}");
}

#[test]
fn the_border_marks_which_rows_are_visible() {
    let mark = |desk: &Desk| -> Vec<u16> {
        let buffer = drawn(desk, ThemeName::Plain);
        let right = desk.app.areas().results.unwrap().right() - 1;
        (0..buffer.area.height).filter(|y| buffer[(right, *y)].symbol() == "█").collect()
    };
    let mut desk = browsing(80, 24);
    let top = mark(&desk);
    desk.press("G");
    let bottom = mark(&desk);
    assert!(!top.is_empty() && top.first() < bottom.first() && top.last() < bottom.last());
    assert!(mark(&similar(200, 60)).is_empty(), "everything is visible");
}

#[test]
fn a_line_tells_what_ended_in_place_of_the_jobs() {
    let mut desk = browsing(120, 40);
    let line = |desk: &Desk| row(&drawn(desk, ThemeName::Plain), desk.app.areas().jobs.unwrap().y);
    assert!(line(&desk).contains("4 Jobs  none · e exports the open dataset"), "{}", line(&desk));
    desk.press("e enter");
    desk.fail(Lane::StartJob(JobId(0)), FailureKind::Invalid);
    assert!(
        line(&desk).contains("4 Jobs  1 · export set-1: ") && line(&desk).contains("it broke"),
        "{}",
        line(&desk)
    );
}

#[test]
fn the_labels_of_a_cluster_are_not_those_of_the_picture() {
    let mut desk = similar(120, 40);
    desk.press("l");
    let shown = screen_in(&desk, ThemeName::Plain);
    assert!(shown.contains("labels of the cluster:"), "{shown}");
    assert!(shown.contains("# balloon, hills") && shown.contains("“A red balloon"), "{shown}");
}

#[test]
fn the_connection_shows_service_login_and_failures() {
    let mut desk = browsing(200, 60);
    let request = |outcome| {
        Event::Exchange(RequestRecord {
            method: "GET",
            target: SafeText::detail("/api/v1/datasets"),
            attempt: 1,
            duration: Duration::from_millis(31),
            bytes_sent: 0,
            outcome,
            retry_in: None,
        })
    };
    desk.happen(request(RequestOutcome::Succeeded { status: 200, bytes: 2_048 }));
    desk.happen(request(RequestOutcome::Rejected { status: 503, message: None }));
    let shown = screen_in(&desk, ThemeName::Plain);
    for text in ["Connection  @ log", "service  responding", "login    none needed", "503"] {
        assert!(shown.contains(text), "{text} is missing:\n{shown}");
    }
    assert_eq!(shown.matches("31 ms").count(), 1, "{shown}");
}

#[test]
fn a_long_notification_is_shown_in_full() {
    let mut desk = browsing(80, 24);
    let reason = "the archive cannot be written: the disk is full. Free 2 GiB in /downloads, or choose \
                  another folder in the settings, and start the export again";
    desk.happen(Event::Warning(SafeText::detail(reason)));
    let shown = screen_in(&desk, ThemeName::Plain);
    for words in ["the disk is full", "start the export again"] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
}

/// Whether a row of an area is cut while another one is blank.
fn is_cut_beside_blank_rows(buffer: &Buffer, area: Rect) -> bool {
    let rows: Vec<String> = area
        .rows()
        .map(|row| row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol()).collect())
        .collect();
    let is_cut = rows.iter().any(|row| row.trim_end().ends_with('…'));
    is_cut && rows.iter().any(|row| row.trim().is_empty())
}

#[test]
fn no_text_is_cut_while_its_pane_has_blank_rows() {
    let rows = [14, 15, 17, 20, 24, 31, 40, 60, 70];
    let sizes = (50..=240).step_by(7).zip(rows.into_iter().cycle());
    for (columns, rows) in sizes.chain([(50, 70), (240, 14), (80, 24), (200, 60)]) {
        for keys in ["1 j", "1 j j j", "1 j j j j", "2 f", "2 i", "i l"] {
            let mut desk = similar(columns, rows);
            desk.press("esc");
            desk.press(keys);
            let buffer = drawn(&desk, ThemeName::Plain);
            let areas = desk.app.areas();
            let text = areas.detail.map(|area| DetailLayout::new(&desk.app, area).text);
            for area in areas.status.map(inner_area).into_iter().chain(text) {
                let cut = is_cut_beside_blank_rows(&buffer, area);
                assert!(!cut, "{keys} at {columns}x{rows}:\n{}", styled(&buffer));
            }
        }
        for scene in [timeline, help] {
            let desk = scene(columns, rows);
            let buffer = drawn(&desk, ThemeName::Plain);
            let area = desk.app.overlay.as_ref().map(|overlay| overlay.area(desk.app.size));
            let cut = area.is_some_and(|area| is_cut_beside_blank_rows(&buffer, inner_area(area)));
            assert!(!cut, "at {columns}x{rows}:\n{}", styled(&buffer));
        }
    }
}
