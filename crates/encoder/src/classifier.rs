//! Labels pictures by the scores of a classification model. The vector of a picture is the value that the head of the
//! model reads. If the classes are those of `ImageNet`, the labels include the hypernyms of a class, so that "dog"
//! finds all breeds.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use crate::{class_names::is_placeholder, error::short_reason, onnx_model::OnnxGraph};

/// The probability from which a label is given. At this value, nine of ten labels are right on unseen photographs.
const MIN_CONFIDENCE: f32 = 0.7;
/// The tolerance for the difference between the sum of probabilities and one.
const SUM_TOLERANCE: f32 = 1e-3;
/// Operators that may follow the head. The last three are those of quantized models.
const TRANSPARENT: [&str; 10] = [
    "Add",
    "Cast",
    "Flatten",
    "Identity",
    "Reshape",
    "Softmax",
    "Squeeze",
    "Mul",
    "QuantizeLinear",
    "DequantizeLinear",
];

/// A class that a model is confident of.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfidentLabel {
    /// The label of the class, followed by the labels of its hypernyms. There is at least one label.
    pub labels: Vec<String>,
    pub confidence: f32,
}

/// Returns the name of the value that the last Gemm or `MatMul` before an output reads.
pub fn head_input(path: &Path, output: &str) -> Result<String, String> {
    let graph = OnnxGraph::read(path)?;
    let mut value = output;
    // Each step goes to an earlier node.
    for _ in 0..graph.nodes.len() {
        let Some(node) = graph.source(value) else { break };
        // Weights and constants have no operator before them.
        let mut computed = node.input.iter().filter(|name| {
            let source = graph.source(name);
            source.is_some_and(|node| node.op_type.as_deref() != Some("Constant"))
        });
        let Some(input) = computed.next() else { break };
        match node.op_type.as_deref() {
            Some("Gemm" | "MatMul") => return Ok(input.clone()),
            // The numbers before they were quantized are the vector.
            Some("MatMulInteger") => {
                let quantized = graph.source(input).and_then(|node| node.input.first());
                return Ok(quantized.unwrap_or(input).clone());
            }
            Some(kind) if TRANSPARENT.contains(&kind) => value = input,
            _ => break,
        }
    }
    Err(format!("its output {} is not computed by a Gemm or MatMul", short_reason(&output)))
}

/// Returns the most probable class, if the model is confident of it. Scores that are not probabilities are converted.
/// `classes` has the labels of each class.
pub fn confident_label(scores: &[f32], classes: &[Vec<String>]) -> Option<ConfidentLabel> {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let best = scores.iter().position(|score| *score >= max)?;
    let sum: f32 = scores.iter().sum();
    let are_probabilities =
        (sum - 1.0).abs() < SUM_TOLERANCE && scores.iter().all(|score| *score >= 0.0);
    let confidence = if are_probabilities {
        max
    } else {
        1.0 / scores.iter().map(|score| (score - max).exp()).sum::<f32>()
    };
    let labels = classes.get(best).filter(|labels| !labels.is_empty())?;
    (confidence >= MIN_CONFIDENCE).then(|| ConfidentLabel { labels: labels.clone(), confidence })
}

/// The `WordNet` synsets, written by `tools/hypernyms.py`, which describes the format of the lines.
const TABLE: &str = include_str!("../assets/wordnet/hypernyms.txt");
/// If at least this share of a model's names is known, its classes are those of `ImageNet`. Below this share, a word
/// keeps its common meaning: in `ImageNet`, a kite is a bird, and a mouse is a computer mouse.
const MIN_SHARE_OF_NAMES: f64 = 0.9;

static SYNSETS: LazyLock<Synsets> = LazyLock::new(Synsets::read);

struct Synset {
    name: &'static str,
    /// The ids of the synsets of which this synset is a kind.
    hypernyms: Vec<&'static str>,
}

struct Synsets {
    by_id: BTreeMap<&'static str, Synset>,
    /// The ids of the `ImageNet` classes, in order.
    classes: Vec<&'static str>,
}

/// Returns the labels of each class by its name: its own label, then its hypernyms, nearest first. A name
/// is the id of a synset, the words of an `ImageNet` synset as public models spell them, or anything else.
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
            // `ImageNet` has two classes called crane. A model of all classes has them in the order of `ImageNet`, so
            // the position decides.
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

/// Returns the first word of a name such as "tench, Tinca tinca".
fn first_word(name: &str) -> &str {
    name.split(',').next().unwrap_or_default().trim()
}

/// Returns a name as a label, or `None` for a placeholder.
fn plain_name(name: &str) -> Option<String> {
    let name = name.trim();
    (!is_placeholder(name) && !name.is_empty()).then(|| name.to_owned())
}

/// Whether a word is the id of a synset that is known.
pub fn is_synset(id: &str) -> bool {
    SYNSETS.by_id.contains_key(id)
}

/// Returns the ids of the `ImageNet` classes, in order.
pub fn imagenet_ids() -> Vec<String> {
    SYNSETS.classes.iter().map(|&id| id.to_owned()).collect()
}

impl Synsets {
    fn read() -> Self {
        let mut by_id: BTreeMap<&str, Synset> = BTreeMap::new();
        // The ids of the previous line and of the lines in which it is nested.
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

    /// Returns the name of a synset and the names of its hypernyms, nearest first.
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
