//! Runs a model in stages, so that its depthwise convolutions are computed here and everything else by the runtime. The
//! runtime takes no operators of others, but it computes any values from any others.

mod stage;
mod stage_plan;

use std::{collections::HashMap, mem::take, path::Path};

use rten::{NodeId, Value, ValueOrView};
use rten_tensor::{NdTensorView, Tensor};

use super::{
    onnx_graph::OnnxGraph,
    onnx_model::{OnnxModel, OutputTensor},
};
use stage::{Stage, StageConvolution};
use stage_plan::StagePlan;

/// How some outputs of a model are computed.
pub struct StagedRun {
    stages: Vec<Stage>,
    outputs: Vec<NodeId>,
    /// The last step that reads a value. Each stage is a step, and each of its convolutions.
    last_reads: HashMap<NodeId, usize>,
}

/// Values between stages.
#[derive(Default)]
struct StageValues {
    values: HashMap<NodeId, Value>,
    /// A buffer that is no longer read.
    spare: Vec<f32>,
}

impl StagedRun {
    /// Divides the model of a file, and runs it with an example. A model that cannot be divided is run as a whole.
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
        // Once for all stages: to hand over each of them would cost more.
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

    /// Runs the operators of a stage that the runtime computes. It gets values that are not read again to keep, and can
    /// overwrite them.
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

#[cfg(test)]
mod tests;
