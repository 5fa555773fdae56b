//! An ONNX model: its inputs, its outputs, and how it runs.

use std::path::Path;

use rten::{Dimension, Model, NodeId, Value, ValueOrView};
use rten_tensor::{Tensor, prelude::*};

use super::error::{LoadError, short_reason};

pub struct OnnxModel {
    model: Model,
}

pub struct ModelInput {
    pub id: NodeId,
    /// As in the file.
    pub name: String,
    /// Its dimensions; `None` for variable ones.
    pub shape: Vec<Option<usize>>,
}

pub struct ModelOutput {
    pub id: NodeId,
    /// As in the file.
    pub name: String,
}

/// What a vector is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorForm {
    /// The only row of a table.
    Row,
    /// The first token of a sequence.
    FirstToken,
}

#[derive(Debug, PartialEq)]
pub struct OutputTensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl OnnxModel {
    pub fn load(what: &str, path: &Path) -> Result<Self, LoadError> {
        let model = Model::load_file(path).map_err(|cause| {
            let reason = format!(
                "is not a usable ONNX model ({}); download or export it again",
                short_reason(&cause)
            );
            LoadError::new(what, path, &reason)
        })?;
        Ok(Self { model })
    }

    pub fn inputs(&self) -> Vec<ModelInput> {
        let size = |dimension| match dimension {
            Dimension::Fixed(size) => Some(size),
            Dimension::Symbolic(_) => None,
        };
        let input = |&id: &NodeId| {
            let node = self.model.node_info(id)?;
            let shape = node.shape()?.into_iter().map(size).collect();
            Some(ModelInput { id, name: node.name()?.to_owned(), shape })
        };
        self.model.input_ids().iter().filter_map(input).collect()
    }

    pub fn outputs(&self) -> Vec<ModelOutput> {
        let output = |&id: &NodeId| {
            let name = self.model.node_info(id)?.name()?.to_owned();
            Some(ModelOutput { id, name })
        };
        self.model.output_ids().iter().filter_map(output).collect()
    }

    /// A value between operators, by its name in the file.
    pub fn value_id(&self, name: &str) -> Option<NodeId> {
        self.model.find_node(name)
    }

    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.model.node_info(id)?.name()
    }

    /// The numbers of a value that does not depend on inputs.
    pub fn constant(&self, name: &str) -> Option<Tensor<f32>> {
        let value = self.run_values(Vec::new(), &[self.value_id(name)?]).ok()?.pop()?;
        value.try_into().ok()
    }

    /// Computes some outputs, in their order. Inputs that these do not need may be missing.
    pub fn run(
        &self,
        inputs: &[(NodeId, Value)],
        outputs: &[NodeId],
    ) -> Result<Vec<OutputTensor>, String> {
        let views = inputs.iter().map(|(id, value)| (*id, ValueOrView::from(value))).collect();
        self.run_values(views, outputs)?.into_iter().map(OutputTensor::new).collect()
    }

    /// Computes any values, from inputs or other values that it would compute from them.
    pub fn run_values(
        &self,
        inputs: Vec<(NodeId, ValueOrView)>,
        outputs: &[NodeId],
    ) -> Result<Vec<Value>, String> {
        self.model.run(inputs, outputs, None).map_err(|cause| cause.to_string())
    }
}

impl OutputTensor {
    pub fn new(value: Value) -> Result<Self, String> {
        let tensor: Tensor<f32> =
            value.try_into().map_err(|_| "its output is not numbers".to_owned())?;
        Ok(Self { shape: tensor.shape().to_vec(), values: tensor.to_vec() })
    }

    /// The form in which this is a vector.
    pub fn form(&self) -> Result<VectorForm, String> {
        match self.shape[..] {
            [1, width] if width > 0 => Ok(VectorForm::Row),
            [1, tokens, width] if tokens.min(width) > 0 => Ok(VectorForm::FirstToken),
            _ => Err(format!(
                "its output has the shape {:?}, which is neither one row nor a sequence of tokens",
                self.shape
            )),
        }
    }

    pub fn into_vector(self, form: VectorForm) -> Result<Vec<f32>, String> {
        if self.form()? != form {
            return Err(format!("its output has another shape now: {:?}", self.shape));
        }
        let mut values = self.values;
        values.truncate(self.shape.last().copied().unwrap_or_default());
        Ok(values)
    }
}
