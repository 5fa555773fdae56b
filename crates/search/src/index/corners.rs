//! Corner detection (minimum eigenvalue): points that are found again in an edited copy.

use super::channel::Channel;

/// Strength below which a point is noise, in luma squared (0 to 255).
const MIN_CORNER_STRENGTH: f32 = 4.0;
/// Avoids division by zero in flat areas.
const DIVISION_EPSILON: f32 = 1e-6;
/// A corner is suppressed only by one that is stronger by this ratio.
const SUPPRESSION_RATIO: f32 = 0.9;

/// Returns up to `most` corners (x, y) at least `margin` from the border, ordered by the distance
/// to the nearest stronger corner (adaptive non-maximum suppression), so that they are spread over
/// the image.
pub fn detect_corners(plane: &Channel, margin: usize, most: usize) -> Vec<(usize, usize)> {
    let strengths = corner_strengths(plane);
    let mut peaks = local_maxima(&strengths, margin);
    peaks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    peaks.truncate(most * 8);
    let mut spread: Vec<(usize, usize)> = (0..peaks.len())
        .map(|at| {
            let (strength, (x, y)) = peaks[at];
            let stronger =
                peaks[..at].iter().filter(|other| strength < SUPPRESSION_RATIO * other.0);
            let away = stronger.map(|&(_, (a, b))| a.abs_diff(x).pow(2) + b.abs_diff(y).pow(2));
            (away.min().unwrap_or(usize::MAX), at)
        })
        .collect();
    spread.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    spread.iter().take(most).map(|&(_, at)| peaks[at].1).collect()
}

fn corner_strengths(plane: &Channel) -> Channel {
    let width = plane.width;
    let mut products = [(); 3].map(|()| vec![0.0; plane.values.len()]);
    let inner = width.saturating_sub(2);
    for y in 1..plane.height().saturating_sub(1) {
        let first = y * width + 1;
        let line = |from: usize| &plane.values[from..][..inner];
        let (left, right) = (line(first - 1), line(first + 1));
        let (above, below) = (line(first - width), line(first + width));
        let [across, down, both] = products.each_mut().map(|plane| &mut plane[first..][..inner]);
        for x in 0..inner {
            let (dx, dy) = (right[x] - left[x], below[x] - above[x]);
            (across[x], down[x], both[x]) = (dx * dx, dy * dy, dx * dy);
        }
    }
    let [across, down, both] = products.map(|values| Channel::new(width, values).smooth().values);
    let sums = across.iter().zip(&down).zip(&both);
    let least =
        |((xx, yy), xy): ((&f32, &f32), &f32)| (xx * yy - xy * xy) / (xx + yy + DIVISION_EPSILON);
    Channel::new(width, sums.map(least).collect())
}

/// Local maxima in 3 x 3 neighborhoods, with their strength.
fn local_maxima(strengths: &Channel, margin: usize) -> Vec<(f32, (usize, usize))> {
    let (width, height) = (strengths.width, strengths.height());
    let mut peaks = Vec::new();
    for y in margin.max(1)..height.saturating_sub(margin.max(1)) {
        let lines = [-1, 0, 1].map(|step| strengths.row(y as isize + step));
        for x in margin.max(1)..width.saturating_sub(margin.max(1)) {
            let strength = lines[1][x];
            if strength > MIN_CORNER_STRENGTH
                && lines.iter().all(|line| line[x - 1..=x + 1].iter().all(|v| *v <= strength))
            {
                peaks.push((strength, (x, y)));
            }
        }
    }
    peaks
}
