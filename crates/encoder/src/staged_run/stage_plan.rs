//! Divides the operators of a model into stages.

use std::collections::{BTreeSet, HashMap, HashSet};

use rten::NodeId;
use rten_onnx::onnx::NodeProto;

use super::stage::{Stage, StageConvolution};
use crate::{
    depthwise::{ConvolutionOperator, OperatorReader},
    onnx_graph::OnnxGraph,
    onnx_model::OnnxModel,
};

/// A value is computed in the stage of the last value that it depends on; the output of a convolution is in the next one.
pub struct StagePlan<'a> {
    /// By value. Constants have none.
    stage_of: HashMap<&'a str, usize>,
    stages: Vec<PlannedStage<'a>>,
    /// Outputs of convolutions.
    filtered: HashSet<&'a str>,
    /// What the model is given.
    given: HashSet<String>,
}

#[derive(Default)]
struct PlannedStage<'a> {
    inputs: BTreeSet<&'a str>,
    outputs: BTreeSet<&'a str>,
    convolutions: Vec<ConvolutionOperator<'a>>,
}

impl<'a> StagePlan<'a> {
    /// `None` if the model has no convolution that can be computed here, or operators whose inputs are not all known.
    pub fn new(model: &OnnxModel, graph: &'a OnnxGraph, outputs: &'a [String]) -> Option<Self> {
        let has_graph = |node: &NodeProto| node.attribute.iter().any(|it| it.g.is_some());
        if graph.nodes.iter().any(has_graph) {
            return None;
        }
        let operators = OperatorReader::new(graph, model, outputs).operators();
        let mut operators: HashMap<&str, ConvolutionOperator> =
            operators.into_iter().map(|operator| (operator.output, operator)).collect();
        let needed = needed_values(graph, &operators, outputs);
        let mut plan = Self {
            stage_of: HashMap::new(),
            stages: Vec::new(),
            filtered: HashSet::new(),
            given: model.inputs().into_iter().map(|input| input.name).collect(),
        };
        for node in &graph.nodes {
            let Some(output) = node.output.iter().find(|name| needed.contains(name.as_str()))
            else {
                continue;
            };
            match operators.remove(output.as_str()) {
                Some(operator) => plan.add_convolution(operator)?,
                None => plan.add_node(node),
            }
        }
        for output in outputs {
            plan.keep(output);
        }
        (!plan.filtered.is_empty()).then_some(plan)
    }

    fn add_convolution(&mut self, operator: ConvolutionOperator<'a>) -> Option<()> {
        let stage = *self.stage_of.get(operator.input)?;
        self.keep(operator.input);
        self.stage_of.insert(operator.output, stage + 1);
        self.filtered.insert(operator.output);
        self.stage(stage).convolutions.push(operator);
        Some(())
    }

    fn add_node(&mut self, node: &'a NodeProto) {
        let stages = node.input.iter().map(|name| {
            let given = self.given.contains(name).then_some(0);
            self.stage_of.get(name.as_str()).copied().or(given)
        });
        let Some(stage) = stages.flatten().max() else { return };
        for name in &node.input {
            let Some(from) = self.stage_of.get(name.as_str()).copied() else { continue };
            if from < stage {
                self.keep(name);
            }
            if from < stage || self.filtered.contains(name.as_str()) {
                self.stage(stage).inputs.insert(name);
            }
        }
        self.stage_of.extend(node.output.iter().map(|name| (name.as_str(), stage)));
    }

    /// Lets the stage of a value return it.
    fn keep(&mut self, value: &'a str) {
        if !self.filtered.contains(value) {
            let stage = self.stage_of.get(value).copied().unwrap_or_default();
            self.stage(stage).outputs.insert(value);
        }
    }

    fn stage(&mut self, number: usize) -> &mut PlannedStage<'a> {
        while self.stages.len() <= number {
            self.stages.push(PlannedStage::default());
        }
        &mut self.stages[number]
    }

    /// `None` if the runtime does not have a value that is needed.
    pub fn into_stages(self, model: &OnnxModel) -> Option<Vec<Stage>> {
        self.stages.into_iter().map(|stage| stage.into_stage(model)).collect()
    }
}

impl PlannedStage<'_> {
    fn into_stage(self, model: &OnnxModel) -> Option<Stage> {
        let ids = |names: BTreeSet<&str>| -> Option<Vec<NodeId>> {
            names.into_iter().map(|name| model.value_id(name)).collect()
        };
        let convolution = |ConvolutionOperator { input, output, convolution }| {
            let (input, output) = (model.value_id(input)?, model.value_id(output)?);
            Some(StageConvolution { input, output, convolution })
        };
        Some(Stage {
            inputs: ids(self.inputs)?,
            outputs: ids(self.outputs)?,
            convolutions: self.convolutions.into_iter().map(convolution).collect::<Option<_>>()?,
        })
    }
}

/// The values that outputs depend on, without those inside of convolutions.
fn needed_values<'a>(
    graph: &'a OnnxGraph,
    operators: &HashMap<&str, ConvolutionOperator<'a>>,
    outputs: &'a [String],
) -> HashSet<&'a str> {
    let mut needed: HashSet<&str> = outputs.iter().map(String::as_str).collect();
    for node in graph.nodes.iter().rev() {
        let output = node.output.iter().find(|name| needed.contains(name.as_str()));
        match output.map(|name| operators.get(name.as_str())) {
            Some(Some(operator)) => drop(needed.insert(operator.input)),
            Some(None) => needed.extend(node.input.iter().map(String::as_str)),
            None => {}
        }
    }
    needed
}
