//! The text encoder: token ids, attention mask and padding as the model expects.

use std::{fs, path::Path};

use rten::{NodeId, Value};
use rten_tensor::NdTensor;

use super::{
    error::{LoadError, cannot_read, short_reason},
    onnx_model::{ModelInput, OnnxModel, load_model, model_inputs},
    tokenizer::TextTokenizer,
};

const ROLE: &str = "text encoder";
/// Names of vector outputs, most specific first.
const PREFERRED_OUTPUTS: [&str; 3] = ["text_embeds", "sentence_embedding", "pooler_output"];

pub struct TextEncoder {
    model: OnnxModel,
    tokenizer: TextTokenizer,
    inputs: TextInputs,
}

/// The inputs of a model, and its fixed number of tokens, if any.
struct TextInputs {
    ids: NodeId,
    mask: Option<NodeId>,
    token_types: Option<NodeId>,
    length: Option<usize>,
}

impl TextEncoder {
    /// Loads a model with its tokenizer and runs it; also returns the vector length.
    pub fn load(path: &Path, tokenizer: &Path) -> Result<(Self, usize), LoadError> {
        let json = fs::read_to_string(tokenizer)
            .map_err(|cause| cannot_read("tokenizer", tokenizer, &cause))?;
        let no_tokenizer = |reason: String| {
            let why = format!(
                "is not a usable tokenizer ({}); give the tokenizer.json of the text encoder",
                short_reason(&reason)
            );
            LoadError::new("tokenizer", tokenizer, &why)
        };
        let mut tokens = TextTokenizer::from_json(&json).map_err(no_tokenizer)?;
        let model = load_model(ROLE, path)?;
        let inputs = TextInputs::from_model(&model_inputs(&model))
            .map_err(|why| LoadError::new(ROLE, path, why))?;
        if let Some(length) = inputs.length {
            tokens.set_max_tokens(length).map_err(no_tokenizer)?;
        }
        let example =
            inputs.input_tensors(&tokens.ids("a").map_err(no_tokenizer)?, tokens.padding_id);
        let model = OnnxModel::new(model, &PREFERRED_OUTPUTS, &example);
        let (model, dimension) = model.map_err(|reason| {
            let why = format!(
                "gives no vector for a text ({}); give the text model of the pair, exported with \
                 its projection, and the tokenizer that belongs to it",
                short_reason(&reason)
            );
            LoadError::new(ROLE, path, &why)
        })?;
        let encoder = Self { model, tokenizer: tokens, inputs };
        encoder.check_last_token(tokenizer)?;
        Ok((encoder, dimension))
    }

    /// A tokenizer of a larger model has tokens without an embedding in this one.
    fn check_last_token(&self, tokenizer: &Path) -> Result<(), LoadError> {
        let last = self.tokenizer.max_id;
        let values = self.inputs.input_tensors(&[last], self.tokenizer.padding_id);
        self.model.run(&values).map(drop).map_err(|_| {
            let why = format!(
                "has tokens up to {last}, which the text encoder does not know; give the one that \
                 belongs to it"
            );
            LoadError::new("tokenizer", tokenizer, &why)
        })
    }

    /// Returns the vector, not normalized.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, String> {
        self.model
            .run(&self.inputs.input_tensors(&self.tokenizer.ids(text)?, self.tokenizer.padding_id))
    }
}

impl TextInputs {
    fn from_model(inputs: &[ModelInput]) -> Result<Self, &'static str> {
        let two = || inputs.iter().filter(|input| input.shape.len() == 2);
        let named = |word: &str| two().find(|input| input.name.contains(word));
        let mask = named("mask").map(|input| input.id);
        let kinds = named("token_type").map(|input| input.id);
        let others = |id: NodeId| Some(id) != mask && Some(id) != kinds;
        let ids = named("input_ids").or_else(|| two().find(|input| others(input.id)));
        let ids = ids.ok_or("takes no tokens; give the text model of the pair")?;
        if ids.shape[0].is_some_and(|batch| batch != 1) {
            return Err("takes several texts at once; export it again for one");
        }
        Ok(Self { ids: ids.id, mask, token_types: kinds, length: ids.shape[1] })
    }

    /// The inputs for these tokens, padded to the fixed length.
    fn input_tensors(&self, ids: &[i32], padding: i32) -> Vec<(NodeId, Value)> {
        let length = self.length.unwrap_or(ids.len());
        let row = |numbers: &[i32], rest: i32| {
            NdTensor::from_fn([1, length], |[_, at]| numbers.get(at).copied().unwrap_or(rest))
        };
        let mut values = vec![(self.ids, row(ids, padding).into())];
        values.extend(self.mask.map(|mask| (mask, row(&vec![1; ids.len()], 0).into())));
        values.extend(self.token_types.map(|kinds| (kinds, row(&[], 0).into())));
        values
    }
}
