//! Writes ONNX files with a few operators.

use std::cell::RefCell;

use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataLocation, DataType, Dimension, GraphProto, ModelProto,
    NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto,
    TypeProto, TypeProtoTensor, ValueInfoProto,
};

const OPSET: i64 = 17;
const IR_VERSION: i64 = 8;

/// A graph that is built operator by operator.
#[derive(Default)]
pub struct TinyGraph(GraphProto);

/// The dimensions of a value. A variable dimension is `None`.
pub(crate) type Shape<'a> = &'a [Option<i64>];

impl TinyGraph {
    #[must_use]
    pub fn input(mut self, name: &str, kind: DataType, shape: Shape) -> Self {
        self.0.input.push(value(name, kind, shape));
        self
    }

    #[must_use]
    pub fn output(mut self, name: &str, shape: Shape) -> Self {
        self.0.output.push(value(name, DataType::FLOAT, shape));
        self
    }

    /// Replaces all outputs so far by this output.
    #[must_use]
    pub(crate) fn only_output(mut self, name: &str, shape: Shape) -> Self {
        self.0.output.clear();
        self.output(name, shape)
    }

    #[must_use]
    pub fn node(self, kind: &str, inputs: &[&str], output: &str) -> Self {
        self.node_with(kind, inputs, output, Vec::new())
    }

    /// Adds a node with attributes.
    #[must_use]
    pub fn node_with(
        mut self,
        kind: &str,
        inputs: &[&str],
        output: &str,
        attributes: Vec<(&str, Attribute)>,
    ) -> Self {
        self.0.node.push(NodeProto {
            name: Some(format!("make {output}")),
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            op_type: Some(kind.to_owned()),
            attribute: attributes.into_iter().map(attribute).collect(),
            ..NodeProto::default()
        });
        self
    }

    #[must_use]
    pub fn floats(self, name: &str, shape: &[i64], numbers: &[f32]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.tensor(name, DataType::FLOAT, shape, bytes)
    }

    #[must_use]
    pub fn integers(self, name: &str, numbers: &[i64]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.tensor(name, DataType::INT64, &[numbers.len().try_into().unwrap()], bytes)
    }

    fn tensor(mut self, name: &str, kind: DataType, shape: &[i64], bytes: Vec<u8>) -> Self {
        self.0.initializer.push(TensorProto {
            name: Some(name.to_owned()),
            dims: shape.to_vec(),
            data_type: Some(kind),
            raw_data: Some(RefCell::new(bytes)),
            ..TensorProto::default()
        });
        self
    }

    /// Moves the weights to a file with this name, and returns its content. The graph states `length` for each tensor,
    /// or its real length.
    #[must_use]
    pub fn with_external_weights(mut self, name: &str, length: Option<u64>) -> (Self, Vec<u8>) {
        let mut file = Vec::new();
        for tensor in &mut self.0.initializer {
            let bytes = tensor.raw_data.take().unwrap().into_inner();
            let entry = |key: &str, value: String| StringStringEntryProto {
                key: Some(key.to_owned()),
                value: Some(value),
            };
            tensor.external_data = vec![
                entry("location", name.to_owned()),
                entry("offset", file.len().to_string()),
                entry("length", length.unwrap_or(bytes.len() as u64).to_string()),
            ];
            tensor.data_location = Some(DataLocation::EXTERNAL);
            file.extend(bytes);
        }
        (self, file)
    }

    pub fn to_bytes(self) -> Vec<u8> {
        let version = OperatorSetIdProto { domain: None, version: Some(OPSET) };
        let model = ModelProto {
            ir_version: Some(IR_VERSION),
            opset_import: vec![version],
            graph: Some(self.0),
            ..ModelProto::default()
        };
        model.write_buf().unwrap()
    }
}

pub enum Attribute {
    Integer(i64),
    Integers(Vec<i64>),
    Text(String),
}

fn attribute((name, value): (&str, Attribute)) -> AttributeProto {
    let named = AttributeProto { name: Some(name.to_owned()), ..AttributeProto::default() };
    match value {
        Attribute::Integer(number) => {
            AttributeProto { i: Some(number), r#type: Some(AttributeType::INT), ..named }
        }
        Attribute::Integers(numbers) => {
            AttributeProto { ints: numbers, r#type: Some(AttributeType::INTS), ..named }
        }
        Attribute::Text(text) => {
            AttributeProto { s: Some(text), r#type: Some(AttributeType::STRING), ..named }
        }
    }
}

fn value(name: &str, kind: DataType, shape: Shape) -> ValueInfoProto {
    let dimension = |size: &Option<i64>| Dimension {
        dim_value: *size,
        dim_param: size.is_none().then(|| "any".to_owned()),
    };
    let shape = TensorShapeProto { dim: shape.iter().map(dimension).collect() };
    let tensor = TypeProtoTensor { elem_type: Some(kind), shape: Some(shape) };
    let kind = TypeProto { tensor_type: Some(tensor), ..TypeProto::default() };
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(kind) }
}
