//! The histogram of the loaded scores, with a cut that can be moved and becomes the limit of the
//! search: the max score of captions, or the max distance from a picture.

use ratatui::layout::Rect;
use tessera_model::{Cluster, Filter, Fraction, Histogram, Preview, Query, Search};

use super::{Dialog, KeyResult, Overlay};
use crate::{
    app::{
        App, Mouse, MouseKind,
        areas::inner_area,
        view::visible_pictures::{VisiblePicture, preview_picture},
    },
    input::{Chord, Key},
};

/// Columns of a boundary picture, and of the smallest plot beside two of them.
const PICTURE_COLUMNS: u16 = 22;
const MIN_PLOT_COLUMNS: u16 = 24;
/// How far the cut moves, in thousandths.
const STEP: i32 = 10;
const LARGE_STEP: i32 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreHistogram {
    /// Lower scores stay; in thousandths.
    cut: i32,
    /// The start of the histogram, in thousandths.
    start: i32,
    /// The end of the histogram, in thousandths: there, nothing falls out.
    end: i32,
}

/// The areas inside the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramAreas {
    /// One bar in each column; the lines above and below it have text.
    pub plot: Rect,
    /// The pictures of the last result that stays and of the first that falls out.
    pub boundary: Option<[Rect; 2]>,
}

impl ScoreHistogram {
    /// The limit that the cut stands for; `None` where nothing falls out.
    pub fn limit(&self) -> Option<Fraction> {
        if self.cut >= self.end { None } else { Fraction::new(self.cut_score()) }
    }

    pub fn cut_score(&self) -> f64 {
        f64::from(self.cut) / 1000.0
    }

    pub fn keeps(&self, score: f64) -> bool {
        self.limit().is_none_or(|limit| score < limit.value())
    }

    /// The loaded clusters that stay, closest first, and those that fall out.
    pub fn split<'a>(&self, app: &'a App) -> (Vec<&'a Cluster>, Vec<&'a Cluster>) {
        let mut scored: Vec<(f64, &Cluster)> = app.scored_clusters();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let kept = scored.partition_point(|(score, _)| self.keeps(*score));
        let clusters = |part: &[(f64, &'a Cluster)]| part.iter().map(|(_, it)| *it).collect();
        (clusters(&scored[..kept]), clusters(&scored[kept..]))
    }

    /// The cluster beside the cut on each side.
    pub fn boundary<'a>(&self, app: &'a App) -> [Option<&'a Cluster>; 2] {
        let (kept, dropped) = self.split(app);
        [kept.last().copied(), dropped.first().copied()]
    }

    pub fn areas(dialog: Rect) -> HistogramAreas {
        let inner = inner_area(dialog);
        let (pictures, boundary) = if inner.width >= 2 * PICTURE_COLUMNS + MIN_PLOT_COLUMNS {
            let picture = |index: u16| Rect {
                x: inner.right() - (2 - index) * PICTURE_COLUMNS + 1,
                y: inner.y,
                width: PICTURE_COLUMNS - 1,
                height: inner.height.saturating_sub(1),
            };
            (2 * PICTURE_COLUMNS, Some([picture(0), picture(1)]))
        } else {
            (0, None)
        };
        let plot = Rect {
            x: inner.x + 1,
            y: inner.y + 1,
            width: inner.width.saturating_sub(pictures + 2),
            height: inner.height.saturating_sub(2),
        };
        HistogramAreas { plot, boundary }
    }

    /// Moves the cut. The values between 1 and the end of the histogram would all mean no limit, so they are skipped.
    fn move_to(&mut self, cut: i32) {
        let skips_up = cut > self.cut;
        self.cut = match cut.clamp(self.start, self.end) {
            cut if cut > 1000 && cut < self.end => {
                if skips_up {
                    self.end
                } else {
                    1000
                }
            }
            cut => cut,
        };
    }

    /// Keeps one more result, or one fewer.
    fn step_result(&mut self, more: bool, app: &App) {
        let scores = || app.scored_clusters().into_iter().map(|(score, _)| score);
        let next = if more {
            scores().filter(|score| !self.keeps(*score)).reduce(f64::min)
        } else {
            scores().filter(|score| self.keeps(*score)).reduce(f64::max)
        };
        if let Some(score) = next {
            self.move_to(thousandths(score) + i32::from(more));
        }
    }
}

/// A score in thousandths, rounded down.
fn thousandths(score: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a score of at most 2, which saturates")]
    let thousandths = (score * 1000.0 + 1e-6).floor() as i32;
    thousandths
}

impl Dialog for ScoreHistogram {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        match chord.key {
            Key::Left | Key::Char('h') => self.move_to(self.cut - STEP),
            Key::Right | Key::Char('l') => self.move_to(self.cut + STEP),
            Key::PageDown => self.move_to(self.cut - LARGE_STEP),
            Key::PageUp => self.move_to(self.cut + LARGE_STEP),
            Key::Up | Key::Char('k') => self.step_result(true, app),
            Key::Down | Key::Char('j') => self.step_result(false, app),
            Key::Home | Key::Char('g') => self.move_to(self.start),
            Key::End | Key::Char('G') => self.move_to(self.end),
            Key::Enter => return KeyResult::Accept,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (screen.0, if screen.1 < 36 { 9 } else { 13 })
    }

    /// At the bottom of the screen: the results stay visible above it.
    fn area(&self, screen: (u16, u16)) -> Rect {
        let (width, rows) = self.preferred_size(screen);
        let height = rows.min(screen.1.saturating_sub(1));
        Rect { x: 0, y: screen.1.saturating_sub(height + 1), width, height }
    }

    fn hints(&self) -> &'static str {
        "← → move the cut   ↑ ↓ one result   End no limit   Enter search   Esc close"
    }

    /// Keeps the results up to this one, counted from the closest.
    fn select_item(&mut self, index: usize, app: &App) {
        let mut scores: Vec<f64> =
            app.scored_clusters().into_iter().map(|(score, _)| score).collect();
        scores.sort_by(f64::total_cmp);
        if let Some(score) = scores.get(index) {
            self.move_to(thousandths(*score) + 1);
        }
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &App) {
        let plot = Self::areas(self.area(app.screen.size)).plot;
        let inside = plot.contains((mouse.column, mouse.row).into());
        if inside && matches!(mouse.kind, MouseKind::Click | MouseKind::Drag) {
            let Some(histogram) = app.score_histogram(usize::from(plot.width)) else { return };
            let (start, end) = histogram.range;
            let part = f64::from(mouse.column - plot.x) / f64::from(plot.width);
            self.move_to(thousandths(start + part * (end - start)));
        }
    }

    fn visible_pictures(&self, app: &App) -> Vec<VisiblePicture> {
        let Some(areas) = Self::areas(self.area(app.screen.size)).boundary else {
            return Vec::new();
        };
        let pictures = self.boundary(app).into_iter().zip(areas).filter_map(|(cluster, area)| {
            let preview: &Preview = cluster?.previews.first()?;
            preview_picture(preview, app.screen.canvas(area.width, area.height))
        });
        pictures.collect()
    }

    fn accept(self, app: &mut App) {
        let Some(search) = app.view().map(|view| view.search.clone()) else { return };
        let limited = with_limit(search.clone(), self.limit());
        if limited != search {
            app.open_search(Search { page: 0, ..limited });
        }
    }
}

/// The limit of a search on its scores.
fn limit_of(search: &Search) -> Option<Fraction> {
    match &search.query {
        Query::Caption { max_score, .. } => *max_score,
        Query::Similar(anchor) => search.filters.iter().find_map(|filter| match filter {
            Filter::Similar { anchor: other, max_distance } if other == anchor => *max_distance,
            _ => None,
        }),
        Query::Browse => None,
    }
}

fn with_limit(mut search: Search, limit: Option<Fraction>) -> Search {
    match &mut search.query {
        Query::Caption { max_score, .. } => *max_score = limit,
        Query::Similar(anchor) => {
            let anchor = *anchor;
            search.filters.retain(
                |filter| !matches!(filter, Filter::Similar { anchor: other, .. } if *other == anchor),
            );
            let filter = |limit| Filter::Similar { anchor, max_distance: Some(limit) };
            search.filters.extend(limit.map(filter));
        }
        Query::Browse => {}
    }
    search
}

impl App {
    pub(in crate::app) fn open_score_histogram(&mut self) {
        let (Some(histogram), Some(view)) = (self.score_histogram(1), self.view()) else { return };
        let (start, end) = (thousandths(histogram.range.0), thousandths(histogram.range.1));
        let cut = limit_of(&view.search).map_or(end, |limit| thousandths(limit.value()));
        let mut plot = ScoreHistogram { cut: end, start, end };
        plot.move_to(cut);
        self.overlays.open(Overlay::ScoreHistogram(plot));
    }

    /// The loaded clusters that have a score.
    fn scored_clusters(&self) -> Vec<(f64, &Cluster)> {
        let clusters = self.loaded_clusters().into_iter();
        clusters.filter_map(|it| Some((it.relevance.as_ref()?.score, it))).collect()
    }

    pub fn score_histogram(&self, intervals: usize) -> Option<Histogram> {
        let scores: Vec<f64> = self.scored_clusters().into_iter().map(|(score, _)| score).collect();
        Histogram::new(&scores, intervals)
    }

    /// Whether the cut of the open histogram leaves a cluster out.
    pub fn falls_out(&self, cluster: &Cluster) -> bool {
        match (self.overlays.current(), &cluster.relevance) {
            (Some(Overlay::ScoreHistogram(plot)), Some(relevance)) => !plot.keeps(relevance.score),
            _ => false,
        }
    }
}
