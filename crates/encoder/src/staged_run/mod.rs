//! Runs a model in stages, so that `depthwise` computes its depthwise convolutions and the runtime computes everything
//! else. The runtime accepts no operators from outside, but it can compute any values of a model from any others.
//!
//! `OperatorReader` finds the convolutions, `StagePlan` divides the operators into stages, and `StagedRun` computes
//! them.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    mem::take,
    path::Path,
};

use rten::{NodeId, Value, ValueOrView};
use rten_onnx::onnx::NodeProto;
use rten_tensor::{NdTensorView, Tensor, prelude::*};

use crate::{
    depthwise::{DepthwiseConvolution, FilterGeometry},
    onnx_model::{OnnxGraph, OnnxModel, OutputTensor},
};

/// The stages that compute some outputs of a model.
pub struct StagedRun {
    stages: Vec<Stage>,
    outputs: Vec<NodeId>,
    /// The last step that reads each value. A stage is a step, and so is each convolution of a stage.
    last_reads: HashMap<NodeId, usize>,
}

/// The values that are passed between stages.
#[derive(Default)]
struct StageValues {
    values: HashMap<NodeId, Value>,
    /// A buffer that can be reused.
    spare: Vec<f32>,
}

impl StagedRun {
    /// Divides the model of a file, and runs it with an example. If a model cannot be divided, all of it runs in the
    /// runtime.
    pub fn new(
        model: &OnnxModel,
        path: &Path,
        outputs: &[NodeId],
        example: &(NodeId, Value),
    ) -> Self {
        let graph = OnnxGraph::read(path);
        let divided = graph.ok().and_then(|graph| Self::divided(model, &graph, outputs));
        let usable = divided.filter(|run| run.run(model, example).is_ok());
        usable.unwrap_or_else(|| Self::whole(outputs))
    }

    fn divided(model: &OnnxModel, graph: &OnnxGraph, outputs: &[NodeId]) -> Option<Self> {
        let names: Option<Vec<String>> =
            outputs.iter().map(|id| model.name(*id).map(str::to_owned)).collect();
        let stages = StagePlan::new(model, graph, &names?)?.into_stages(model)?;
        Some(Self::of_stages(stages, outputs))
    }

    fn whole(outputs: &[NodeId]) -> Self {
        let stage =
            Stage { inputs: Vec::new(), outputs: outputs.to_vec(), convolutions: Vec::new() };
        Self::of_stages(vec![stage], outputs)
    }

    fn of_stages(stages: Vec<Stage>, outputs: &[NodeId]) -> Self {
        let mut last_reads = HashMap::new();
        let mut step = 0;
        for stage in &stages {
            last_reads.extend(stage.inputs.iter().map(|id| (*id, step)));
            step += 1;
            for convolution in &stage.convolutions {
                last_reads.insert(convolution.input, step);
                step += 1;
            }
        }
        last_reads.extend(outputs.iter().map(|id| (*id, step)));
        Self { stages, outputs: outputs.to_vec(), last_reads }
    }

    /// Computes the outputs for an input.
    pub fn run(
        &self,
        model: &OnnxModel,
        input: &(NodeId, Value),
    ) -> Result<Vec<OutputTensor>, String> {
        // The thread pool is entered only once, because entering it for each stage would take longer.
        rten::thread_pool().run(|| {
            let mut values = StageValues::default();
            let mut step = 0;
            for stage in &self.stages {
                self.run_operators(model, input, stage, step, &mut values)?;
                step += 1;
                for convolution in &stage.convolutions {
                    self.run_convolution(convolution, step, &mut values)?;
                    step += 1;
                }
            }
            let outputs = self.outputs.iter().map(|id| values.take(*id));
            outputs.map(|value| OutputTensor::new(value?)).collect()
        })
    }

    /// Runs the operators of a stage in the runtime. Values that are not needed again are moved into the runtime, so
    /// that it can overwrite them.
    fn run_operators(
        &self,
        model: &OnnxModel,
        (id, input): &(NodeId, Value),
        stage: &Stage,
        step: usize,
        values: &mut StageValues,
    ) -> Result<(), String> {
        if stage.outputs.is_empty() {
            return Ok(());
        }
        let (last, others): (Vec<NodeId>, Vec<NodeId>) =
            stage.inputs.iter().partition(|id| self.last_reads.get(id) == Some(&step));
        let last = last.into_iter().map(|id| Ok((id, values.take(id)?)));
        let last = last.collect::<Result<Vec<_>, String>>()?;
        let mut inputs = vec![(*id, ValueOrView::from(input))];
        inputs.extend(last.into_iter().map(|(id, value)| (id, value.into())));
        for id in others {
            inputs.push((id, values.get(id)?.into()));
        }
        let computed = model.run_values(inputs, &stage.outputs)?;
        values.values.extend(stage.outputs.iter().copied().zip(computed));
        Ok(())
    }

    fn run_convolution(
        &self,
        StageConvolution { input, output, convolution }: &StageConvolution,
        step: usize,
        values: &mut StageValues,
    ) -> Result<(), String> {
        let buffer = take(&mut values.spare);
        let tensor: NdTensorView<f32, 4> = values
            .get(*input)?
            .try_into()
            .map_err(|_| "the input of a convolution is not a picture")?;
        let filtered = convolution.apply(&tensor, buffer)?;
        if self.last_reads.get(input) == Some(&step) {
            let read: Result<Tensor<f32>, _> = values.take(*input)?.try_into();
            values.spare = read.map(Tensor::into_data).unwrap_or_default();
        }
        values.values.insert(*output, filtered.into());
        Ok(())
    }
}

impl StageValues {
    fn get(&self, id: NodeId) -> Result<&Value, String> {
        self.values.get(&id).ok_or_else(|| "a stage misses a value".to_owned())
    }

    fn take(&mut self, id: NodeId) -> Result<Value, String> {
        self.values.remove(&id).ok_or_else(|| "a stage misses a value".to_owned())
    }
}

/// The part of a model that the runtime computes at once, and the convolutions that can run after it.
pub struct Stage {
    /// The values that earlier stages computed.
    pub inputs: Vec<NodeId>,
    /// The values that convolutions and later stages need.
    pub outputs: Vec<NodeId>,
    pub convolutions: Vec<StageConvolution>,
}

pub struct StageConvolution {
    pub input: NodeId,
    pub output: NodeId,
    pub convolution: DepthwiseConvolution,
}

/// Divides the operators of a model into stages. A value is computed in the last stage of the values that it depends
/// on. The output of a convolution belongs to the next stage.
pub struct StagePlan<'a> {
    /// The stage of each value. Constants have no stage.
    stage_of: HashMap<&'a str, usize>,
    stages: Vec<PlannedStage<'a>>,
    /// The outputs of convolutions.
    filtered: HashSet<&'a str>,
    /// The inputs of the model.
    given: HashSet<String>,
}

#[derive(Default)]
struct PlannedStage<'a> {
    inputs: BTreeSet<&'a str>,
    outputs: BTreeSet<&'a str>,
    convolutions: Vec<ConvolutionOperator<'a>>,
}

impl<'a> StagePlan<'a> {
    /// Divides a model. Returns `None` if no convolution of the model can be computed here, or if an operator has
    /// unknown inputs.
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

    /// Makes the stage that computes a value return the value.
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

    /// Resolves the names of values. Returns `None` if the runtime does not have a needed value.
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

/// Returns the values on which the outputs depend, except values inside convolutions.
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

/// A convolution between two values of the model.
pub struct ConvolutionOperator<'a> {
    pub input: &'a str,
    pub output: &'a str,
    pub convolution: DepthwiseConvolution,
}

/// Reads operators with their weights. The weights come from the runtime, which has already read them and computes
/// weights that an exporter left as expressions.
pub struct OperatorReader<'m, 'a> {
    graph: &'a OnnxGraph,
    model: &'m OnnxModel,
    /// The nodes that read a value. An output of the model has an additional reader, `None`.
    readers: HashMap<&'a str, Vec<Option<&'a NodeProto>>>,
}

impl<'m, 'a> OperatorReader<'m, 'a> {
    /// Prepares to find operators. `outputs` are the values that must be kept.
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

    /// Returns all convolutions that can be computed here.
    pub fn operators(&self) -> Vec<ConvolutionOperator<'a>> {
        self.graph.nodes.iter().filter_map(|node| self.operator(node)).collect()
    }

    fn operator(&self, node: &'a NodeProto) -> Option<ConvolutionOperator<'a>> {
        let (input, output) = (node.input.first()?, node.output.first()?);
        if self.is_merged(output) {
            return None;
        }
        let convolution = self.convolution(node)?;
        // An input of the model is not a value between operators, so a convolution that reads one is not computed here.
        self.graph.source(input)?;
        Some(ConvolutionOperator { input, output, convolution })
    }

    /// Reads a depthwise convolution. Returns `None` for other operators and for unusual convolutions.
    fn convolution(&self, node: &NodeProto) -> Option<DepthwiseConvolution> {
        let groups =
            integer_attribute(node, "group").and_then(|groups| usize::try_from(groups).ok())?;
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
            strides: integers_attribute(node, "strides", [1; 2])?,
            dilations: integers_attribute(node, "dilations", [1; 2])?,
            padding: integers_attribute(node, "pads", [0; 4])?,
        };
        let is_supported = channels == groups && bias.len() == channels && geometry.is_supported();
        let weights = weights.to_vec();
        is_supported.then_some(DepthwiseConvolution { geometry, weights, bias })
    }

    /// Whether the runtime merges the operator that reads a value into the one that computes it.
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

fn integer_attribute(node: &NodeProto, name: &str) -> Option<i64> {
    node.attribute.iter().find(|it| it.name.as_deref() == Some(name)).and_then(|it| it.i)
}

fn integers_attribute<const N: usize>(
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

#[cfg(test)]
mod tests;
