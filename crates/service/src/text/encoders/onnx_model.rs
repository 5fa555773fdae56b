//! An ONNX model: its inputs, and the output that is used as vector.

use std::path::Path;

use rten::{Dimension, Model, NodeId, Value, ValueOrView};
use rten_tensor::{NdTensor, prelude::*};

use super::error::{LoadError, short_reason};

pub struct OnnxModel {
    model: Model,
    output: NodeId,
}

pub struct ModelInput {
    pub id: NodeId,
    /// As in the file.
    pub name: String,
    /// Its dimensions; `None` for variable ones.
    pub shape: Vec<Option<usize>>,
}

pub fn load_model(what: &str, path: &Path) -> Result<Model, LoadError> {
    Model::load_file(path).map_err(|cause| {
        let reason = format!(
            "is not a usable ONNX model ({}); download or export it again",
            short_reason(&cause)
        );
        LoadError::new(what, path, &reason)
    })
}

pub fn model_inputs(model: &Model) -> Vec<ModelInput> {
    let size = |dimension| match dimension {
        Dimension::Fixed(size) => Some(size),
        Dimension::Symbolic(_) => None,
    };
    let input = |&id: &NodeId| {
        let node = model.node_info(id)?;
        let shape = node.shape()?.into_iter().map(size).collect();
        Some(ModelInput { id, name: node.name()?.to_owned(), shape })
    };
    model.input_ids().iter().filter_map(input).collect()
}

impl OnnxModel {
    /// Selects the output that is a vector by running the model with `example`: first outputs with
    /// the names in `preferred`, in that order, then the others. Also returns the vector length.
    /// Fails if no output is a vector, with the reason of the first one.
    pub fn new(
        model: Model,
        preferred: &[&str],
        example: &[(NodeId, Value)],
    ) -> Result<(Self, usize), String> {
        let rank = |id: &NodeId| {
            let name = model.node_info(*id).and_then(|node| node.name().map(str::to_owned));
            let position = preferred.iter().position(|output| Some(*output) == name.as_deref());
            position.unwrap_or(preferred.len())
        };
        let mut outputs = model.output_ids().to_vec();
        outputs.sort_by_key(rank);
        let (&first, others) = outputs.split_first().ok_or("it has no output")?;
        let mut network = Self { model, output: first };
        let reason = match network.run(example) {
            Ok(vector) => return Ok((network, vector.len())),
            Err(reason) => reason,
        };
        for &output in others {
            network.output = output;
            if let Ok(vector) = network.run(example) {
                return Ok((network, vector.len()));
            }
        }
        Err(reason)
    }

    pub fn run(&self, inputs: &[(NodeId, Value)]) -> Result<Vec<f32>, String> {
        let views = inputs.iter().map(|(id, value)| (*id, ValueOrView::from(value))).collect();
        let [value] =
            self.model.run_n(views, [self.output], None).map_err(|cause| cause.to_string())?;
        let tensor: NdTensor<f32, 2> =
            value.try_into().map_err(|_| "its output is not a vector of numbers".to_owned())?;
        match tensor.shape() {
            [1, _] => Ok(tensor.to_vec()),
            shape => Err(format!("its output has the shape {shape:?} and not one row")),
        }
    }
}
