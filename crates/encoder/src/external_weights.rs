//! Reads where an ONNX file has its external weights: files beside it, of any name. The sizes are checked before the
//! runtime reads the files, because it allocates whatever length a damaged file states.

use std::{
    fs::File,
    path::{Component, Path},
};

use rten_onnx::protobuf::{
    DecodeMessage, Fields, OwnedValues, ProtobufError, ReadValue, ValueReader,
};

use crate::{error::short_reason, onnx_model::RepeatedField};

/// Returns the names of the files with external weights, relative to the folder of the model. Fails if a name leaves
/// the folder, or if a file is shorter than the model states.
pub fn external_files(model: &Path) -> Result<Vec<String>, String> {
    let folder = model.parent().unwrap_or(model);
    let mut names: Vec<String> = Vec::new();
    for part in external_parts(model)? {
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
        names.push(part.location);
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns the names of the files with external weights that a model states, without looking at the files.
pub fn named_external_files(model: &Path) -> Result<Vec<String>, String> {
    let mut names: Vec<String> =
        external_parts(model)?.into_iter().map(|part| part.location).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
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
    let file = File::open(model).map_err(|cause| cause.to_string())?;
    let graphs = WeightsFile::decode(ValueReader::from_file(file))
        .map_err(|cause| format!("it cannot be read: {}", short_reason(&cause)))?;
    let tensors = graphs.0.into_iter().flat_map(|graph| graph.0);
    tensors.filter(|tensor| !tensor.0.is_empty()).map(read_part).collect()
}

fn read_part(tensor: ExternalTensor) -> Result<ExternalPart, String> {
    let mut part = ExternalPart::default();
    let number = |text: &str| {
        text.parse().map_err(|_| "it states a place of its weights that is not a number".to_owned())
    };
    for Entry { key, value } in tensor.0 {
        match key.as_str() {
            "location" => part.location = value,
            "offset" => part.offset = number(&value)?,
            "length" => part.length = number(&value)?,
            _ => {}
        }
    }
    Ok(part)
}

/// The entries of a tensor that say where its values are.
type ExternalTensor = RepeatedField<13, Entry>;
/// The weights of a graph.
type GraphWeights = RepeatedField<5, ExternalTensor>;
/// The graph of a file.
type WeightsFile = RepeatedField<7, GraphWeights>;

#[derive(Default)]
struct Entry {
    key: String,
    value: String,
}

impl DecodeMessage for Entry {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(
        mut fields: Fields<R>,
    ) -> Result<Self, ProtobufError> {
        let mut entry = Self::default();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                1 => entry.key = field.read_string()?,
                2 => entry.value = field.read_string()?,
                _ => field.skip()?,
            }
        }
        Ok(entry)
    }
}
