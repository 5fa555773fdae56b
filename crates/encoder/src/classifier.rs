//! The head of a classification model: the value that it reads is the vector of a picture, and its scores give labels.

use std::path::Path;

use super::{error::short_reason, onnx_graph::OnnxGraph};

/// Labels with a lower probability are wrong too often: at this one, nine of ten are right on unseen photographs.
const MIN_CONFIDENCE: f32 = 0.7;
/// How far apart the sum of probabilities and one may be.
const SUM_TOLERANCE: f32 = 1e-3;
/// Operators that may follow the head.
const TRANSPARENT: [&str; 7] =
    ["Add", "Cast", "Flatten", "Identity", "Reshape", "Softmax", "Squeeze"];

/// A class that a model is confident of.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfidentLabel {
    /// Its own, then those of what it is a kind of; at least one.
    pub labels: Vec<String>,
    pub confidence: f32,
}

/// The name of the value that the last Gemm or `MatMul` before an output reads.
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
            Some(kind) if TRANSPARENT.contains(&kind) => value = input,
            _ => break,
        }
    }
    Err(format!("its output {} is not computed by a Gemm or MatMul", short_reason(&output)))
}

/// The most probable class, if the model is confident of it. Scores are probabilities, or become them; `classes` are the
/// labels of each class.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_confident_labels_are_given() {
        let classes = [vec!["cat"], vec!["poodle", "dog"], vec![]]
            .map(|labels| labels.into_iter().map(str::to_owned).collect::<Vec<_>>());
        let labels = |scores: &[f32]| {
            confident_label(scores, &classes).map_or_else(Vec::new, |label| label.labels)
        };
        assert_eq!(labels(&[5.0, 0.0]), ["cat"]);
        assert!(labels(&[0.1, 0.2]).is_empty());
        // These are probabilities already.
        assert_eq!(labels(&[0.25, 0.75]), ["poodle", "dog"]);
        assert!(labels(&[0.35, 0.65]).is_empty());
        for damaged in [&[][..], &[f32::NAN, f32::NAN], &[0.0, 0.0, 9.0], &[0.0, 0.0, 0.0, 9.0]] {
            assert!(labels(damaged).is_empty());
        }
    }
}
