//! Loads an ONNX file: the model that the runtime runs, with its inputs and outputs, and the graph of its operators,
//! which `staged_run` and `classifier` examine. External weights are in files beside it, of any name. Their sizes are
//! checked before the runtime reads the files, because it allocates whatever length a damaged file states.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::{self, File},
    io::BufReader,
    path::{Component, Path},
};

use crate::error::{LoadError, check_pointer, short_reason};
use rten::{DataType, Dimension, Model, ModelOptions, NodeId, Value, ValueOrView, ValueType};
use rten_onnx::{
    onnx::{ModelProto, NodeProto, StringStringEntryProto},
    protobuf::{
        DecodeMessage, ErrorKind, OwnedValues, ProtobufError, ReadPos, ReadValue, ValueReader,
    },
};
use rten_tensor::{Tensor, prelude::*};
use tessera_model::SafeText;

/// Maximum size of a model file, which is read into memory as a whole.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// Maximum number of values in an output, and of the numbers in a vector. Real outputs have a few hundred thousand
/// values, and real vectors a few thousand numbers.
const MAX_OUTPUT_VALUES: usize = 16 << 20;
const MAX_VECTOR_LENGTH: usize = 1 << 16;

pub struct OnnxModel {
    model: Model,
}

pub struct ModelInput {
    pub id: NodeId,
    /// The name in the file.
    pub name: String,
    /// The dimensions. A variable dimension is `None`.
    pub shape: Vec<Option<usize>>,
    /// Whether the values are bytes.
    pub is_bytes: bool,
}

pub struct ModelOutput {
    pub id: NodeId,
    /// The name in the file.
    pub name: String,
}

/// The part of an output that is a vector.
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
        let size = path.metadata().map_or(0, |file| file.len());
        if size > MAX_FILE_BYTES {
            let limit = MAX_FILE_BYTES >> 30;
            let reason = format!("is larger than {limit} GiB; export a smaller or quantized model");
            return Err(LoadError::new(what, path, &reason));
        }
        check_pointer(what, path)?;
        let unusable = |cause: &str| {
            let reason =
                format!("is not a usable ONNX model ({cause}); download or export it again");
            LoadError::new(what, path, &reason)
        };
        let weights = external_files(path).map_err(|cause| unusable(&cause))?;
        let model = if weights.is_empty() {
            Model::load_file(path).map_err(|cause| short_reason(&cause))
        } else {
            load_with_weights(path, &weights)
        };
        let model = model.map_err(|cause| unusable(cause.as_str()))?;
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
            let is_bytes = node.dtype() == Some(ValueType::Tensor(DataType::UInt8));
            Some(ModelInput { id, name: node.name()?.to_owned(), shape, is_bytes })
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

    /// Finds a value between operators by its name in the file.
    pub fn value_id(&self, name: &str) -> Option<NodeId> {
        self.model.find_node(name)
    }

    pub fn name(&self, id: NodeId) -> Option<&str> {
        self.model.node_info(id)?.name()
    }

    /// Computes a value that does not depend on inputs.
    pub fn constant(&self, name: &str) -> Option<Tensor<f32>> {
        let value = self.run_values(Vec::new(), &[self.value_id(name)?]).ok()?.pop()?;
        value.try_into().ok()
    }

    /// Computes some outputs, in the given order. Inputs that these outputs do not need may be missing.
    pub fn run(
        &self,
        inputs: &[(NodeId, Value)],
        outputs: &[NodeId],
    ) -> Result<Vec<OutputTensor>, String> {
        let views = inputs.iter().map(|(id, value)| (*id, ValueOrView::from(value))).collect();
        self.run_values(views, outputs)?.into_iter().map(OutputTensor::new).collect()
    }

    /// Computes any values from inputs or from other computed values.
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
        if tensor.len() > MAX_OUTPUT_VALUES {
            let count = tensor.len();
            return Err(format!("its output has {count} values; the limit is {MAX_OUTPUT_VALUES}"));
        }
        Ok(Self { shape: tensor.shape().to_vec(), values: tensor.to_vec() })
    }

    /// Returns the form in which this output is a vector.
    pub fn form(&self) -> Result<VectorForm, String> {
        if let Some(&width) = self.shape.last()
            && width > MAX_VECTOR_LENGTH
        {
            return Err(format!(
                "its vectors have {width} numbers; the limit is {MAX_VECTOR_LENGTH}"
            ));
        }
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

/// Loads a model with its external weights. The runtime does not open the files itself, because it would look for them
/// beside the target of a link, and files in the cache of a model hub are links.
fn load_with_weights(path: &Path, weights: &BTreeSet<String>) -> Result<Model, SafeText> {
    let folder = path.parent().unwrap_or(path);
    let mut size = 0;
    let mut read = |path: &Path| {
        size += path.metadata().map_or(0, |file| file.len());
        if size > MAX_FILE_BYTES {
            return Err(short_reason(&format!("it has more than {} GiB", MAX_FILE_BYTES >> 30)));
        }
        fs::read(path).map_err(|cause| short_reason(&cause))
    };
    let mut options = ModelOptions::with_all_ops();
    let mut model = read(path)?;
    for (index, name) in weights.iter().enumerate() {
        let accepted = accepted_name(&mut model, name, index)?;
        options.external_data(&accepted, read(&folder.join(name))?);
    }
    options.load(model).map_err(|cause| short_reason(&cause))
}

/// Returns the name under which the runtime accepts external weights: without a folder, and with an extension such as
/// `data`. Another name is replaced in the bytes of the model by one of the same length, so that no length changes.
fn accepted_name(model: &mut [u8], name: &str, index: usize) -> Result<String, SafeText> {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let is_known =
        extension.is_some_and(|it| it.starts_with("data") || it.starts_with("onnx_data"));
    if is_known && Path::new(name).components().count() == 1 {
        return Ok(name.to_owned());
    }
    let digits = name.len().saturating_sub(ACCEPTED_EXTENSION.len());
    let accepted = format!("{index:0digits$}{ACCEPTED_EXTENSION}");
    if accepted.len() != name.len() {
        return Err(short_reason(&format!("its weights {name} need a longer name")));
    }
    let entry = [LOCATION, &varint(name.len()), name.as_bytes()].concat();
    for at in 0..model.len() {
        if let Some(found) = model[at..].get_mut(..entry.len())
            && *found == *entry
        {
            found[entry.len() - name.len()..].copy_from_slice(accepted.as_bytes());
        }
    }
    Ok(accepted)
}

const ACCEPTED_EXTENSION: &str = ".data";
/// An entry with the key `location`, up to the length of its value, as ONNX files store it.
const LOCATION: &[u8] = b"\x0A\x08location\x12";

/// Encodes a length as ONNX files store it, with seven bits in each byte.
fn varint(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length > 0x7F {
        bytes.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    bytes.push(length.to_le_bytes()[0]);
    bytes
}

pub struct OnnxGraph {
    /// The operators. Each operator comes after the operators whose outputs it reads.
    pub nodes: Vec<NodeProto>,
    /// The position of the node that computes a value.
    sources: HashMap<String, usize>,
}

impl OnnxGraph {
    pub fn read(path: &Path) -> Result<Self, String> {
        let nodes = read_structure(path)?.graph.map(|graph| graph.node).unwrap_or_default();
        let mut sources = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            sources.extend(node.output.iter().map(|name| (name.clone(), at)));
        }
        Ok(Self { nodes, sources })
    }

    /// Returns the node that computes a value, or `None` for weights and inputs.
    pub fn source(&self, value: &str) -> Option<&NodeProto> {
        self.sources.get(value).map(|at| &self.nodes[*at])
    }
}

/// Returns the names of the files with external weights, relative to the folder of the model. Fails if a name leaves
/// the folder, or if a file is shorter than the model states.
pub fn external_files(model: &Path) -> Result<BTreeSet<String>, String> {
    let folder = model.parent().unwrap_or(model);
    let parts = external_parts(model)?;
    for part in &parts {
        let is_inside = Path::new(&part.location)
            .components()
            .all(|component| matches!(component, Component::Normal(_) | Component::CurDir));
        if part.location.is_empty() || !is_inside {
            return Err("it has weights in a file outside its folder".to_owned());
        }
        let path = folder.join(&part.location);
        let size = path.metadata().map(|file| file.len());
        let size = size.map_err(|_| format!("its weights {} are missing", part.location))?;
        if part.offset.checked_add(part.length).is_none_or(|end| end > size) {
            return Err(format!("its weights {} are shorter than it states", part.location));
        }
    }
    Ok(parts.into_iter().map(|part| part.location).collect())
}

/// Returns the names of the files with external weights that a model states, without looking at the files.
pub fn named_external_files(model: &Path) -> Result<BTreeSet<String>, String> {
    Ok(external_parts(model)?.into_iter().map(|part| part.location).collect())
}

/// Returns the metadata of a model: texts with a name, which exporters write.
pub fn metadata(model: &Path) -> BTreeMap<String, String> {
    // A file that cannot be read is reported when the model is loaded.
    let read = read_structure(model).unwrap_or_default();
    let entries = read.metadata_props.into_iter();
    entries.map(|it| (it.key.unwrap_or_default(), it.value.unwrap_or_default())).collect()
}

/// A part of a file that contains the weights of one tensor.
#[derive(Default)]
struct ExternalPart {
    location: String,
    offset: u64,
    /// 0 if the length is not stated.
    length: u64,
}

fn external_parts(model: &Path) -> Result<Vec<ExternalPart>, String> {
    let Some(graph) = read_structure(model)?.graph else { return Ok(Vec::new()) };
    let attributes = graph.node.into_iter().flat_map(|node| node.attribute);
    let constants = attributes.filter_map(|attribute| attribute.t);
    let tensors = graph.initializer.into_iter().chain(constants);
    let external = tensors.map(|tensor| tensor.external_data);
    external.filter(|entries| !entries.is_empty()).map(read_part).collect()
}

fn read_part(entries: Vec<StringStringEntryProto>) -> Result<ExternalPart, String> {
    let mut part = ExternalPart::default();
    let number = |text: &str| {
        text.parse().map_err(|_| "it states a place of its weights that is not a number".to_owned())
    };
    for StringStringEntryProto { key, value } in entries {
        let value = value.unwrap_or_default();
        match key.as_deref().unwrap_or_default() {
            "location" => part.location = value,
            "offset" => part.offset = number(&value)?,
            "length" => part.length = number(&value)?,
            _ => {}
        }
    }
    Ok(part)
}

/// Reads a file without the values of large tensors. Every length that the file states is checked, because the runtime
/// allocates it before it reads.
fn read_structure(path: &Path) -> Result<ModelProto, String> {
    let read = || {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        ModelProto::decode(StructureReader { file: ValueReader::from_file(file), size })
    };
    read().map_err(|cause| format!("it cannot be read: {}", short_reason(&cause)))
}

/// The length from which bytes are skipped. They are the values of tensors.
const MIN_SKIPPED_BYTES: usize = 64 << 10;

/// Reads the fields of a file, and fails at a length that goes beyond its end.
struct StructureReader {
    file: ValueReader<ReadPos<BufReader<File>>>,
    size: u64,
}

impl StructureReader {
    fn check(&self, length: usize) -> Result<(), ProtobufError> {
        let end = self.position().checked_add(length as u64);
        let is_inside = end.is_some_and(|end| end <= self.size);
        is_inside.then_some(()).ok_or_else(|| ProtobufError::new(ErrorKind::Eof))
    }
}

impl ReadValue for StructureReader {
    type Types = OwnedValues;

    fn read_i32(&mut self) -> Result<i32, ProtobufError> {
        self.file.read_i32()
    }

    fn read_i64(&mut self) -> Result<i64, ProtobufError> {
        self.file.read_i64()
    }

    fn read_varint(&mut self) -> Result<u64, ProtobufError> {
        self.file.read_varint()
    }

    fn read_bytes(&mut self, length: usize) -> Result<Vec<u8>, ProtobufError> {
        self.check(length)?;
        if length < MIN_SKIPPED_BYTES {
            return self.file.read_bytes(length);
        }
        self.file.skip(length)?;
        Ok(Vec::new())
    }

    fn read_string(&mut self, length: usize) -> Result<String, ProtobufError> {
        self.check(length)?;
        self.file.read_string(length)
    }

    fn skip(&mut self, length: usize) -> Result<(), ProtobufError> {
        self.check(length)?;
        self.file.skip(length)
    }

    fn position(&self) -> u64 {
        self.file.position()
    }
}
