//! The labels of the classes of a model: plain words, and for the classes of `ImageNet` what they are kinds of, so that
//! "dog" finds its breeds.

use std::{collections::BTreeMap, sync::LazyLock};

/// From `WordNet` by `tools/hypernyms.py`, which describes the lines.
const TABLE: &str = include_str!("../assets/wordnet/hypernyms.txt");
/// With fewer names of `ImageNet`, its words are taken for what other models mean by them: a kite is a bird in `ImageNet`,
/// a mouse is one of a computer.
const MIN_SHARE_OF_NAMES: f64 = 0.9;

static SYNSETS: LazyLock<Synsets> = LazyLock::new(Synsets::read);

struct Synset {
    name: &'static str,
    /// By id.
    hypernyms: Vec<&'static str>,
}

struct Synsets {
    by_id: BTreeMap<&'static str, Synset>,
    /// The ids of the classes of `ImageNet`, in their order.
    classes: Vec<&'static str>,
}

/// The labels of each class by its name in `id2label`: its own, then what it is a kind of, nearest first. Names are
/// ids of synsets, the words of the synsets of `ImageNet` as public models spell them, or any others.
pub fn class_labels(names: &[String]) -> Vec<Vec<String>> {
    let synsets = &*SYNSETS;
    let by_word = synsets.classes_by_word();
    let known = |name: &&String| by_word.contains_key(first_word(name));
    let known = names.iter().filter(known).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of classes")]
    let are_of_imagenet = known as f64 >= names.len() as f64 * MIN_SHARE_OF_NAMES;
    let labels = |(position, name): (usize, &String)| {
        if synsets.by_id.contains_key(name.as_str()) {
            return synsets.labels(name);
        }
        let same_word = by_word.get(first_word(name)).filter(|_| are_of_imagenet);
        match same_word.map(Vec::as_slice) {
            Some([id]) => synsets.labels(id),
            // Two classes are cranes; a model of all classes has them in their order.
            Some(ids) if names.len() == synsets.classes.len() => {
                let id = ids.iter().find(|id| **id == synsets.classes[position]);
                id.map_or_else(|| vec![first_word(name).to_owned()], |id| synsets.labels(id))
            }
            Some(_) => vec![first_word(name).to_owned()],
            None => plain_name(name).into_iter().collect(),
        }
    };
    names.iter().enumerate().map(labels).collect()
}

/// Of "tench, Tinca tinca".
fn first_word(name: &str) -> &str {
    name.split(',').next().unwrap_or_default().trim()
}

/// `None` for a placeholder such as `LABEL_0`, which exporters write where names are not known.
fn plain_name(name: &str) -> Option<String> {
    let number = name.strip_prefix("LABEL_");
    let is_placeholder = number.is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()));
    let name = name.trim();
    (!is_placeholder && !name.is_empty()).then(|| name.to_owned())
}

impl Synsets {
    fn read() -> Self {
        let mut by_id: BTreeMap<&str, Synset> = BTreeMap::new();
        // The ids of the line before and of those above it.
        let mut path: Vec<&str> = Vec::new();
        for line in TABLE.lines() {
            let text = line.trim_start_matches('\t');
            path.truncate(line.len() - text.len());
            let (id, name) = text.split_once(' ').unwrap_or((text, text));
            let synset = by_id.entry(id).or_insert(Synset { name, hypernyms: Vec::new() });
            synset.hypernyms.extend(path.last());
            path.push(id);
        }
        let above: Vec<&str> =
            by_id.values().flat_map(|synset| &synset.hypernyms).copied().collect();
        let classes = by_id.keys().copied().filter(|id| !above.contains(id)).collect();
        Self { by_id, classes }
    }

    fn classes_by_word(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let mut by_word: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for id in &self.classes {
            by_word.entry(self.by_id[id].name).or_default().push(*id);
        }
        by_word
    }

    /// The name of a synset and those of its hypernyms, nearest first.
    fn labels(&self, id: &str) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        let mut level = vec![id];
        while !level.is_empty() {
            let synsets: Vec<&Synset> = level.iter().filter_map(|id| self.by_id.get(id)).collect();
            for synset in &synsets {
                if !labels.iter().any(|label| label == synset.name) {
                    labels.push(synset.name.to_owned());
                }
            }
            level = synsets.iter().flat_map(|synset| synset.hypernyms.iter().copied()).collect();
        }
        labels
    }
}

#[cfg(test)]
mod tests;
