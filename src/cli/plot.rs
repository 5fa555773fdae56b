//! Plots of results as text: their scores, labels, tags and caption words as bars.

use tessera_model::{Cluster, FacetKind, Histogram, Relevance, SafeText, ScoreKind, count_facets};

/// Rows of a plot, and cells of its longest bar.
const MAX_ROWS: usize = 12;
const MAX_INTERVALS: usize = 20;
const MAX_BAR: usize = 40;

/// The plots of these clusters: a histogram of their scores, and the most frequent facets of each
/// kind.
pub fn plot_clusters(clusters: &[Cluster]) -> String {
    let mut plots: Vec<String> = plot_scores(clusters).into_iter().collect();
    for kind in FacetKind::ALL {
        let facets = count_facets(clusters, kind);
        let count = facets.len();
        let rows = facets.into_iter().take(MAX_ROWS).map(|facet| (facet.name, facet.clusters));
        let more = match count.saturating_sub(MAX_ROWS) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        plots.extend(plot_bars(&format!("{}{more}", kind.label()), &rows.collect::<Vec<_>>()));
    }
    if plots.is_empty() {
        return "nothing to plot: no scores, labels, tags or captions\n".to_owned();
    }
    plots.join("\n")
}

fn plot_scores(clusters: &[Cluster]) -> Option<String> {
    let relevances = clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
    // Only a known kind of score has a direction.
    let is_known = |relevance: &Relevance| relevance.kind == ScoreKind::CosineDistance;
    let title =
        if relevances.clone().all(is_known) { "scores, from the closest" } else { "scores" };
    let scores: Vec<f64> = relevances.map(|relevance| relevance.score).collect();
    let (start, end) = Histogram::new(&scores, 1)?.range;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2 / 0.05")]
    let intervals = (((end - start) / 0.05).round() as usize).clamp(1, MAX_INTERVALS);
    let histogram = Histogram::new(&scores, intervals)?;
    let rows = histogram.counts.iter().enumerate().map(|(index, &count)| {
        #[expect(clippy::cast_precision_loss, reason = "at most 20 intervals")]
        let bound = start + (end - start) * index as f64 / intervals as f64;
        (SafeText::name(&format!("{bound:.2}")), count)
    });
    plot_bars(title, &rows.collect::<Vec<_>>())
}

/// A title, and a line with a bar for each row; `None` without rows.
fn plot_bars(title: &str, rows: &[(SafeText, usize)]) -> Option<String> {
    let most = rows.iter().map(|(_, count)| *count).max()?.max(1);
    let width = rows.iter().map(|(name, _)| name.width()).max()?;
    let line = |(name, count): &(SafeText, usize)| {
        // One is visible beside many.
        let bar = "█".repeat((count * MAX_BAR).div_ceil(most));
        let gap = " ".repeat(width - name.width());
        format!("  {name}{gap}  {bar} {count}\n")
    };
    Some(rows.iter().map(line).fold(format!("{title}\n"), |text, line| text + &line))
}
