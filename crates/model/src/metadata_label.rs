//! Labels for what cameras and editors record, such as `year:2024`: the local service makes them, because filters have
//! no key of their own for it.

/// The part before the colon.
const KINDS: [&str; 10] = [
    "year",
    "date",
    "camera",
    "lens",
    "exposure",
    "aperture",
    "iso",
    "focal-length",
    "gps",
    "rating",
];

/// Whether a label says how a picture was made rather than what it shows.
pub fn is_metadata_label(label: &str) -> bool {
    label.split_once(':').is_some_and(|(kind, _)| KINDS.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_labels_with_a_colon_say_what_a_picture_shows() {
        let shown = ["dog", "animal:dog", "person:Ada", "years:2024"];
        assert!(!shown.into_iter().any(is_metadata_label));
        assert!(["year:2024", "camera:NIKON D90"].into_iter().all(is_metadata_label));
    }
}
