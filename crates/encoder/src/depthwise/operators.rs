//! Finds the depthwise convolutions of a model that can be computed here.

use std::collections::HashMap;

use rten_onnx::onnx::NodeProto;
use rten_tensor::prelude::*;

use super::{convolution::DepthwiseConvolution, filter_geometry::FilterGeometry};
use crate::{onnx_graph::OnnxGraph, onnx_model::OnnxModel};

/// A convolution between two values of the model.
pub struct ConvolutionOperator<'a> {
    pub input: &'a str,
    pub output: &'a str,
    pub convolution: DepthwiseConvolution,
}

/// Reads operators with their weights. These come from the runtime, which has read them already, and computes those that an
/// exporter left to be computed.
pub struct OperatorReader<'m, 'a> {
    graph: &'a OnnxGraph,
    model: &'m OnnxModel,
    /// The nodes that read a value; an output of the model has one more.
    readers: HashMap<&'a str, Vec<Option<&'a NodeProto>>>,
}

impl<'m, 'a> OperatorReader<'m, 'a> {
    /// `outputs` are the values that have to be kept.
    pub fn new(graph: &'a OnnxGraph, model: &'m OnnxModel, outputs: &'a [String]) -> Self {
        let mut readers: HashMap<&str, Vec<_>> = HashMap::new();
        for node in &graph.nodes {
            for name in &node.input {
                readers.entry(name).or_default().push(Some(node));
            }
        }
        for name in outputs {
            readers.entry(name).or_default().push(None);
        }
        Self { graph, model, readers }
    }

    /// All that can be computed here.
    pub fn operators(&self) -> Vec<ConvolutionOperator<'a>> {
        self.graph.nodes.iter().filter_map(|node| self.operator(node)).collect()
    }

    fn operator(&self, node: &'a NodeProto) -> Option<ConvolutionOperator<'a>> {
        let (input, output) = (node.input.first()?, node.output.first()?);
        if self.is_merged(output) {
            return None;
        }
        let convolution = self.convolution(node)?;
        // What is given to the model is not a value between operators.
        self.graph.source(input)?;
        Some(ConvolutionOperator { input, output, convolution })
    }

    /// `None` for operators that are not a depthwise convolution, or an unusual one.
    fn convolution(&self, node: &NodeProto) -> Option<DepthwiseConvolution> {
        let groups = integer(node, "group").and_then(|groups| usize::try_from(groups).ok())?;
        if node.op_type.as_deref() != Some("Conv") || groups < 2 || has_own_padding(node) {
            return None;
        }
        let weights = self.model.constant(node.input.get(1)?)?;
        let &[channels, 1, height, width] = weights.shape() else { return None };
        let bias = match node.input.get(2) {
            Some(name) if !name.is_empty() => self.model.constant(name)?.to_vec(),
            _ => vec![0.0; channels],
        };
        let geometry = FilterGeometry {
            size: [height, width],
            strides: integers(node, "strides", [1; 2])?,
            dilations: integers(node, "dilations", [1; 2])?,
            padding: integers(node, "pads", [0; 4])?,
        };
        let is_supported = channels == groups && bias.len() == channels && geometry.is_supported();
        let weights = weights.to_vec();
        is_supported.then_some(DepthwiseConvolution { geometry, weights, bias })
    }

    /// Whether the runtime makes the operator that reads a value a part of the one that computes it.
    fn is_merged(&self, value: &str) -> bool {
        let [Some(reader)] = self.readers.get(value).map_or(&[][..], Vec::as_slice) else {
            return false;
        };
        let mut inputs = reader.input.iter();
        match reader.op_type.as_deref() {
            Some("Add") => inputs.any(|name| self.model.constant(name).is_some()),
            Some("BatchNormalization") => true,
            _ => false,
        }
    }
}

fn has_own_padding(node: &NodeProto) -> bool {
    let padding = node.attribute.iter().find(|it| it.name.as_deref() == Some("auto_pad"));
    padding.and_then(|it| it.s.as_deref()).is_some_and(|kind| kind != "NOTSET")
}

fn integer(node: &NodeProto, name: &str) -> Option<i64> {
    node.attribute.iter().find(|it| it.name.as_deref() == Some(name)).and_then(|it| it.i)
}

fn integers<const N: usize>(
    node: &NodeProto,
    name: &str,
    default: [usize; N],
) -> Option<[usize; N]> {
    let Some(found) = node.attribute.iter().find(|it| it.name.as_deref() == Some(name)) else {
        return Some(default);
    };
    let numbers: Option<Vec<usize>> =
        found.ints.iter().map(|number| usize::try_from(*number).ok()).collect();
    numbers?.try_into().ok()
}
