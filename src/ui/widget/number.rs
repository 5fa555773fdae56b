//! Gauges, and the format of numbers.

/// A gauge of `cells` cells for a fraction from 0 to 1, in eighths of a cell.
pub(in crate::ui) fn gauge(fraction: f64, cells: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction of a few cells"
    )]
    let eighths = (fraction.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if eighths / 8 < cells {
        bar.push(EIGHTHS[eighths % 8]);
        bar.push_str(&"·".repeat(cells - eighths / 8 - 1));
    }
    bar
}

/// A score with two decimals: `.12`.
pub(in crate::ui) fn format_score(score: f64) -> String {
    let text = format!("{score:.2}");
    text.strip_prefix('0').map_or_else(|| text.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(gauge(0.0, 4), " ···");
        assert_eq!(gauge(0.5, 4), "██ ·");
        assert_eq!(gauge(1.0, 4), "████");
        assert_eq!((format_score(0.123), format_score(1.0)), (".12".to_owned(), "1.00".to_owned()));
    }
}
