//! Shows a histogram of the loaded scores with a movable cut. Accepting the dialog makes the cut the limit of the
//! search: the max score of captions, or the max distance from a picture.

use ratatui::widgets::{Sparkline, SparklineBar, Widget};
use tessera_model::{
    Filter, Fraction, Histogram,
    text::{count_with_noun, group_digits},
    vql::MAX_FILTERS,
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Mouse, MouseKind,
        pane::inner_area,
        view::pictures::{VisiblePicture, preview_picture},
    },
    drawing::{below, display_width, first_fitting, format_score, line, split_end, text_cells},
};

/// The columns of a boundary picture.
const PICTURE_COLUMNS: u16 = 22;
/// The columns of the smallest plot beside two boundary pictures.
const MIN_PLOT_COLUMNS: u16 = 24;
/// How far the cut moves, in thousandths.
const STEP: i32 = 10;
const LARGE_STEP: i32 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreHistogram {
    /// The score in thousandths below which results are kept.
    cut: i32,
    /// The start of the histogram, in thousandths.
    start: i32,
    /// The end of the histogram or of the present limit, in thousandths. A cut at the end drops no results.
    end: i32,
}

/// The areas inside the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramAreas {
    /// The bars, one in each column. The lines above and below the plot have text.
    pub plot: Rect,
    /// The pictures of the last result that is kept and of the first that is dropped.
    pub boundary: Option<[Rect; 2]>,
}

/// The clusters on both sides of the limit, closest first.
pub struct SplitClusters<'a> {
    pub kept: Vec<&'a Cluster>,
    pub dropped: Vec<&'a Cluster>,
}

impl ScoreHistogram {
    /// Returns the limit that the cut stands for, or `None` if no results are dropped.
    pub fn limit(&self) -> Option<Fraction> {
        if self.cut >= self.end { None } else { Fraction::new(self.cut_score()) }
    }

    pub fn cut_score(&self) -> f64 {
        f64::from(self.cut) / 1000.0
    }

    pub fn keeps(&self, score: f64) -> bool {
        self.limit().is_none_or(|limit| score < limit.value())
    }

    /// Divides the loaded clusters at the limit.
    pub fn split<'a>(&self, results: &'a Results) -> SplitClusters<'a> {
        let mut scored: Vec<(f64, &Cluster)> = results.scored_clusters();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let kept = scored.partition_point(|(score, _)| self.keeps(*score));
        let clusters = |part: &[(f64, &'a Cluster)]| part.iter().map(|(_, it)| *it).collect();
        SplitClusters { kept: clusters(&scored[..kept]), dropped: clusters(&scored[kept..]) }
    }

    /// Returns the cluster on each side of the cut.
    pub fn boundary<'a>(&self, results: &'a Results) -> [Option<&'a Cluster>; 2] {
        let SplitClusters { kept, dropped } = self.split(results);
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
    fn step_result(&mut self, more: bool, results: &Results) {
        let scores = results.scores().into_iter();
        let next = if more {
            scores.filter(|score| !self.keeps(*score)).reduce(f64::min)
        } else {
            scores.filter(|score| self.keeps(*score)).reduce(f64::max)
        };
        if let Some(score) = next {
            self.move_to(thousandths(score) + i32::from(more));
        }
    }

    pub(in crate::app) fn open(overlays: &mut Overlays, results: &Results) {
        let (Some(histogram), Some(view)) = (results.score_histogram(1), results.view()) else {
            return;
        };
        let (start, end) = (thousandths(histogram.range.0), thousandths(histogram.range.1));
        let limit = limit_of(&view.search).map(|limit| thousandths(limit.value()));
        // All results may be far below the limit, or at it.
        let (start, end) = limit.map_or((start, end), |it| (start.min(it), end.max(it + 1)));
        overlays.open(ScoreHistogram { cut: limit.unwrap_or(end), start, end });
    }

    /// Returns whether the cut of the open histogram drops a cluster.
    pub fn falls_out(overlays: &Overlays, cluster: &Cluster) -> bool {
        let histogram = overlays.dialog::<ScoreHistogram>();
        let score = cluster.relevance.as_ref().map(|relevance| relevance.score);
        histogram.zip(score).is_some_and(|(histogram, score)| !histogram.keeps(score))
    }
}

/// Returns a score in thousandths, rounded down.
fn thousandths(score: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a score of at most 2, which saturates")]
    let thousandths = (score * 1000.0 + 1e-6).floor() as i32;
    thousandths
}

impl Dialog for ScoreHistogram {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        match chord.key {
            Key::Left | Key::Char('h') => self.move_to(self.cut - STEP),
            Key::Right | Key::Char('l') => self.move_to(self.cut + STEP),
            Key::PageDown => self.move_to(self.cut - LARGE_STEP),
            Key::PageUp => self.move_to(self.cut + LARGE_STEP),
            Key::Up | Key::Char('k') => self.step_result(true, &app.results),
            Key::Down | Key::Char('j') => self.step_result(false, &app.results),
            Key::Home | Key::Char('g') => self.move_to(self.start),
            Key::End | Key::Char('G') => self.move_to(self.end),
            Key::Enter => return KeyResult::Accept,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }

    /// The dialog is at the bottom of the screen, so that the results stay visible above it.
    fn area(&self, app: &App) -> Rect {
        let (width, rows) = app.screen.size;
        let height = rows.saturating_sub(1).min(if rows < 36 { 9 } else { 13 });
        Rect { x: 0, y: rows.saturating_sub(height + 1), width, height }
    }

    fn hints(&self) -> &'static str {
        "← → move the cut   ↑ ↓ one result   End no limit   Enter search   Esc close"
    }

    /// Moves the cut so that the results up to this one are kept, counted from the closest.
    fn select_item(&mut self, index: usize, app: &App) {
        let mut scores = app.results.scores();
        scores.sort_by(f64::total_cmp);
        if let Some(score) = scores.get(index) {
            self.move_to(thousandths(*score) + 1);
        }
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &mut App) {
        let plot = Self::areas(self.area(app)).plot;
        let inside = plot.contains((mouse.column, mouse.row).into());
        if inside && matches!(mouse.kind, MouseKind::Click | MouseKind::Drag) {
            let Some(histogram) = app.results.score_histogram(usize::from(plot.width)) else {
                return;
            };
            let (start, end) = histogram.range;
            let part = f64::from(mouse.column - plot.x) / f64::from(plot.width);
            self.move_to(thousandths(start + part * (end - start)));
        }
    }

    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let areas = Self::areas(area).boundary.into_iter().flatten();
        let picture = |(cluster, area): (Option<&Cluster>, Rect)| {
            let canvas = app.screen.canvas(area.width, area.height);
            Some((area, preview_picture(cluster?.previews.first()?, canvas)?))
        };
        self.boundary(&app.results).into_iter().zip(areas).filter_map(picture).collect()
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let Some(search) = app.results.view().map(|view| view.search.clone()) else { return };
        let in_thousandths = |limit: Fraction| thousandths(limit.value());
        if limit_of(&search).map(in_thousandths) == self.limit().map(in_thousandths) {
            return;
        }
        let limited = search.with_max_score(self.limit());
        if limited.filters.len() > MAX_FILTERS {
            let text = format!("a search has at most {MAX_FILTERS} filters; remove one first");
            app.outbox.notify(Level::Warning, text);
        } else {
            app.open_search(Search { page: 0, ..limited });
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        ctx.dialog(area, "Scores of the loaded results: lower is closer");
        let areas = Self::areas(area);
        let Some(histogram) = ctx.app.results().score_histogram(usize::from(areas.plot.width))
        else {
            return;
        };
        self.draw_headline(ctx, areas.plot);
        self.draw_bars(ctx, areas.plot, &histogram);
        draw_axis(ctx, areas.plot, &histogram);
        let Some(pictures) = areas.boundary else { return };
        let sides = self.boundary(&ctx.app.results).into_iter().zip(pictures);
        for ((cluster, picture), name) in sides.zip(["last kept", "first omitted"]) {
            draw_boundary(ctx, picture, cluster, name);
        }
    }
}

/// Returns the limit of a search on its scores.
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

impl Results {
    /// Returns the loaded clusters that have a score.
    fn scored_clusters(&self) -> Vec<(f64, &Cluster)> {
        let clusters = self.loaded_clusters().into_iter();
        clusters.filter_map(|it| Some((it.relevance.as_ref()?.score, it))).collect()
    }

    fn scores(&self) -> Vec<f64> {
        self.scored_clusters().into_iter().map(|(score, _)| score).collect()
    }

    pub fn score_histogram(&self, intervals: usize) -> Option<Histogram> {
        Histogram::new(&self.scores(), intervals)
    }
}

impl ScoreHistogram {
    fn draw_headline(&self, ctx: &mut DrawContext, plot: Rect) {
        let SplitClusters { kept, dropped } = self.split(&ctx.app.results);
        let all = kept.len() + dropped.len();
        let theme = ctx.theme;
        let loaded = group_digits(all as u64);
        let (text, style) = if self.limit().is_some() {
            let score = format_score(self.cut_score());
            let kept = group_digits(kept.len() as u64);
            (format!("{kept} of {loaded} below {score}"), theme.accent)
        } else {
            (format!("no limit: all {loaded} stay"), theme.text)
        };
        let fall_out = match dropped.len() {
            0 => String::new(),
            count => format!(" · {} out", count_with_noun(count, "falls", "fall")),
        };
        let above = Rect { y: plot.y - 1, height: 1, ..plot };
        let cells = usize::from(above.width).saturating_sub(display_width(&text));
        let fall_out = first_fitting(&[fall_out], cells).to_owned();
        ctx.put(above, 0, &[(text, style), (fall_out, theme.dim)]);
    }

    /// Draws a bar for each column, and the cut over the bars. Bars whose results are dropped are dimmed.
    fn draw_bars(&self, ctx: &mut DrawContext, plot: Rect, histogram: &Histogram) {
        let theme = ctx.theme;
        let limit = self.limit().filter(|limit| limit.value() < histogram.range.1);
        let cut = limit.and_then(|limit| histogram.index_of(limit.value()));
        let largest = histogram.largest_count();
        // A bar of one result stays visible beside a bar of many.
        let smallest = largest.div_ceil(8 * usize::from(plot.height.max(1)));
        let bars = histogram.counts.iter().enumerate().map(|(column, &count)| {
            let height = if count == 0 { 0 } else { count.max(smallest) };
            let stays = cut.is_none_or(|cut| column < cut);
            let style = if stays { theme.gauge } else { theme.dim };
            SparklineBar::from(height as u64).style(Some(style))
        });
        Sparkline::default().data(bars).max(largest as u64).render(plot, ctx.buf);
        if let Some(column) = cut.and_then(|cut| u16::try_from(cut).ok()) {
            for y in plot.top()..plot.bottom() {
                ctx.buf[(plot.x + column, y)].set_symbol("┃").set_style(theme.frame_focus);
            }
        }
    }
}

fn draw_axis(ctx: &mut DrawContext, plot: Rect, histogram: &Histogram) {
    let axis = Rect { y: plot.bottom(), height: 1, ..plot };
    let (start, end) = histogram.range;
    let end = format_score(end);
    ctx.put(axis, 0, &[(format_score(start), ctx.theme.dim)]);
    let (_, right) = split_end(axis, &end);
    ctx.put(right, 0, &[(&end, ctx.theme.dim)]);
    let middle = format!("most in a bar: {}", histogram.largest_count());
    let free = usize::from(axis.width).saturating_sub(12);
    let middle = first_fitting(&[middle], free).to_owned();
    let x = axis.x + axis.width.saturating_sub(text_cells(&middle)) / 2;
    let width = axis.right().saturating_sub(x);
    ctx.put(Rect { x, width, ..axis }, 0, &[(middle, ctx.theme.dim)]);
}

fn draw_boundary(ctx: &mut DrawContext, picture: Rect, cluster: Option<&Cluster>, name: &str) {
    let canvas = ctx.app.screen.canvas(picture.width, picture.height);
    match cluster.and_then(|cluster| cluster.previews.first()) {
        Some(preview) => _ = ctx.draw_picture(picture, preview.media.into(), canvas),
        None => ctx.picture_placeholder(picture, "none"),
    }
    let score = cluster.and_then(|cluster| cluster.relevance.as_ref());
    let score = score.map_or_else(String::new, |relevance| format_score(relevance.score));
    let text = line(Rect { height: picture.height + 1, ..picture }, picture.height);
    ctx.put(below(text, 0), 0, &[(score, ctx.theme.accent), (format!(" {name}"), ctx.theme.dim)]);
}
