//! Corners: places that look like no place next to them, so they are found again in an edited copy.

use super::plane::Plane;

/// Strength below which a place is no corner but noise, in luma squared (0 to 255).
const FAINT: f32 = 4.0;
/// Only what is this much stronger keeps a corner down.
const CLEARLY: f32 = 0.9;

/// Places of corners (x, y) in `plane`, at least `margin` from the border: up to `most`, those
/// first that are farthest from any stronger one, so that they spread over the picture.
pub fn corners(plane: &Plane, margin: usize, most: usize) -> Vec<(usize, usize)> {
    let strengths = strengths(plane);
    let mut peaks = peaks(&strengths, margin);
    peaks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    peaks.truncate(most * 8);
    let mut spread: Vec<(usize, usize)> = (0..peaks.len())
        .map(|at| {
            let (strength, (x, y)) = peaks[at];
            let stronger = peaks[..at].iter().filter(|other| strength < CLEARLY * other.0);
            let away = stronger.map(|&(_, (a, b))| a.abs_diff(x).pow(2) + b.abs_diff(y).pow(2));
            (away.min().unwrap_or(usize::MAX), at)
        })
        .collect();
    spread.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    spread.iter().take(most).map(|&(_, at)| peaks[at].1).collect()
}

/// How much every place differs from its surroundings in the direction in which it differs least.
fn strengths(plane: &Plane) -> Plane {
    let like = |values| Plane { width: plane.width, values };
    let count = plane.values.len();
    let [mut across, mut down, mut both] = [(); 3].map(|()| Vec::with_capacity(count));
    for y in 0..plane.height() as isize {
        let (above, here, below) = (plane.line(y - 1), plane.line(y), plane.line(y + 1));
        for x in 0..plane.width {
            let dx = here[(x + 1).min(plane.width - 1)] - here[x.saturating_sub(1)];
            let dy = below[x] - above[x];
            across.push(dx * dx);
            down.push(dy * dy);
            both.push(dx * dy);
        }
    }
    let [across, down, both] = [across, down, both].map(|values| like(values).smooth().values);
    let sums = across.iter().zip(&down).zip(&both);
    like(sums.map(|((xx, yy), xy)| (xx * yy - xy * xy) / (xx + yy + 1e-6)).collect())
}

/// The strongest place of every 3 x 3, with its strength.
fn peaks(strengths: &Plane, margin: usize) -> Vec<(f32, (usize, usize))> {
    let (width, height) = (strengths.width, strengths.height());
    let mut peaks = Vec::new();
    for y in margin.max(1)..height.saturating_sub(margin.max(1)) {
        let lines = [-1, 0, 1].map(|step| strengths.line(y as isize + step));
        for x in margin.max(1)..width.saturating_sub(margin.max(1)) {
            let strength = lines[1][x];
            if strength > FAINT
                && lines.iter().all(|line| line[x - 1..=x + 1].iter().all(|v| *v <= strength))
            {
                peaks.push((strength, (x, y)));
            }
        }
    }
    peaks
}
