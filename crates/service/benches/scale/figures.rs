//! The table of figures, with one row per measurement and one column per number of media items.

use std::collections::BTreeMap;

/// The mark that a role of the bench prints before each figure, so that other output is ignored.
const MARK: &str = "figure";

/// Prints a figure of one size, in the form that [`Figures::read`] expects.
pub fn report(name: &str, unit: &str, value: f64) {
    println!("{MARK}\t{name}\t{unit}\t{value}");
}

#[derive(Default)]
pub struct Figures {
    /// The names in the order in which they were first reported.
    names: Vec<String>,
    /// The values by name and number of media items.
    values: BTreeMap<String, BTreeMap<usize, f64>>,
}

impl Figures {
    pub fn read(&mut self, size: usize, printed: &str) {
        for line in printed.lines() {
            let [MARK, name, unit, value] = line.split('\t').collect::<Vec<_>>()[..] else {
                continue;
            };
            let name = format!("{name}, {unit}");
            if !self.names.contains(&name) {
                self.names.push(name.clone());
            }
            self.values.entry(name).or_default().insert(size, value.parse().unwrap());
        }
    }

    /// Prints a Markdown table. The exponent is the growth between the two largest sizes.
    pub fn print(&self) {
        let sizes: Vec<usize> =
            self.values.values().flat_map(|by_size| by_size.keys().copied()).collect();
        let sizes: std::collections::BTreeSet<usize> = sizes.into_iter().collect();
        let columns: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        println!("| Media items | {} | Exponent |", columns.join(" | "));
        println!("|---|{}", "---|".repeat(sizes.len() + 1));
        for name in &self.names {
            let by_size = &self.values[name];
            let cell = |size| by_size.get(size).map_or(String::new(), |value| rounded(*value));
            let cells: Vec<String> = sizes.iter().map(cell).collect();
            println!("| {name} | {} | {} |", cells.join(" | "), exponent(by_size));
        }
    }
}

fn exponent(by_size: &BTreeMap<usize, f64>) -> String {
    let mut largest = by_size.iter().rev();
    let (Some((&most, &high)), Some((&fewer, &low))) = (largest.next(), largest.next()) else {
        return String::new();
    };
    format!("{:.2}", (high / low).ln() / (most as f64 / fewer as f64).ln())
}

/// Rounds to three digits, or to all digits before the decimal point.
fn rounded(value: f64) -> String {
    let decimals =
        if value < 1.0 { 3 } else { usize::from(value < 100.0) + usize::from(value < 10.0) };
    format!("{value:.decimals$}")
}
