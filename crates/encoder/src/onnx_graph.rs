//! The operators of an ONNX file. Its weights, which may be gigabytes, are skipped.

use std::{collections::HashMap, fs::File, path::Path};

use rten_onnx::{
    onnx::NodeProto,
    protobuf::{DecodeMessage, Fields, OwnedValues, ProtobufError, ReadValue, ValueReader},
};

use super::error::short_reason;

pub struct OnnxGraph {
    /// Each after those whose outputs it reads.
    pub nodes: Vec<NodeProto>,
    /// Which of the nodes computes a value.
    sources: HashMap<String, usize>,
}

impl OnnxGraph {
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|cause| cause.to_string())?;
        let nodes = OnnxFile::decode(ValueReader::from_file(file))
            .map_err(|cause| format!("it cannot be read: {}", short_reason(&cause)))?
            .0;
        let mut sources = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            sources.extend(node.output.iter().map(|name| (name.clone(), at)));
        }
        Ok(Self { nodes, sources })
    }

    /// The node that computes a value. `None` for weights and inputs.
    pub fn source(&self, value: &str) -> Option<&NodeProto> {
        self.sources.get(value).map(|at| &self.nodes[*at])
    }
}

/// The nodes of a model.
struct OnnxFile(Vec<NodeProto>);

impl OnnxFile {
    const GRAPH: u64 = 7;
}

impl DecodeMessage for OnnxFile {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(
        mut fields: Fields<R>,
    ) -> Result<Self, ProtobufError> {
        let mut nodes = Vec::new();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                Self::GRAPH => nodes = GraphNodes::decode_field(&mut field)?.0,
                _ => field.skip()?,
            }
        }
        Ok(Self(nodes))
    }
}

/// The nodes of a graph.
struct GraphNodes(Vec<NodeProto>);

impl GraphNodes {
    const NODE: u64 = 1;
}

impl DecodeMessage for GraphNodes {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(
        mut fields: Fields<R>,
    ) -> Result<Self, ProtobufError> {
        let mut nodes = Vec::new();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                Self::NODE => nodes.push(NodeProto::decode_field(&mut field)?),
                _ => field.skip()?,
            }
        }
        Ok(Self(nodes))
    }
}
