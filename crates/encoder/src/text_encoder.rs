//! Encodes texts: converts a text to token IDs with `tokenizer.json`, adds the attention mask and the padding that the
//! model expects, and runs the model.

use std::path::Path;

use rten::{NodeId, Value};
use rten_tensor::NdTensor;
use tokenizers::{PostProcessor as _, Tokenizer, TruncationParams};

use crate::{
    error::{LoadError, short_reason},
    model_folder::{ModelFolder, TOKENIZER, TOKENIZER_CONFIG},
    onnx_model::{ModelInput, OnnxModel, VectorForm},
    tool_settings::{ModelConfig, ModelFamily},
};

const ROLE: &str = "text encoder";
/// The names of vector outputs, most specific first.
const PREFERRED_OUTPUTS: [&str; 3] = ["text_embeds", "sentence_embedding", "pooler_output"];

pub struct TextEncoder {
    model: Option<OnnxModel>,
    tokenizer: TextTokenizer,
    inputs: TextInputs,
    output: NodeId,
}

/// The inputs of a model, and the fixed number of tokens, if the model has one.
struct TextInputs {
    ids: NodeId,
    mask: Option<NodeId>,
    token_types: Option<NodeId>,
    length: Option<usize>,
}

impl TextEncoder {
    /// Loads the model for texts with its tokenizer, and runs it. Returns the encoder and the length of its vectors, or
    /// `None` if the model takes no texts. `both` is the model for pictures and texts, in folders in which one file
    /// serves both.
    pub fn load(
        folder: &ModelFolder,
        both: &OnnxModel,
        config: &ModelConfig,
        defaults: &mut Vec<String>,
    ) -> Result<Option<(Self, usize)>, LoadError> {
        let text_model =
            folder.text_model.as_deref().map(|path| OnnxModel::load(ROLE, path)).transpose()?;
        let path = folder.text_model.as_deref().unwrap_or(&folder.image_model);
        let model = text_model.as_ref().unwrap_or(both);
        let mut inputs = match TextInputs::from_model(&model.inputs()) {
            Ok(inputs) => inputs,
            Err(_) if text_model.is_none() => return Ok(None),
            Err(why) => return Err(LoadError::new(ROLE, path, why)),
        };
        let tokenizer_path = folder.find(TOKENIZER);
        let Some(json) = folder.bytes(TOKENIZER)? else {
            let reason = "is missing, without which texts cannot be encoded; download it, too";
            return Err(LoadError::new("tokenizer", &tokenizer_path, reason));
        };
        let more = folder.json(TOKENIZER_CONFIG)?;
        let read = TextTokenizer::read(&json, more.as_ref(), config, inputs.length, defaults);
        let tokenizer = read.map_err(|reason| unusable_tokenizer(&tokenizer_path, &reason))?;
        if config.family == ModelFamily::Siglip {
            // `SigLIP` was trained with padded texts, and its models have no mask.
            inputs.length = inputs.length.or(config.max_tokens);
        }
        if let Some(length) = inputs.length.filter(|&length| length > MAX_TOKENS) {
            let reason = format!("takes {length} tokens; the limit is {MAX_TOKENS}");
            return Err(LoadError::new(ROLE, path, &reason));
        }
        let example =
            tokenizer.ids("a").map_err(|reason| unusable_tokenizer(&tokenizer_path, &reason))?;
        let example = inputs.tensors(&example, tokenizer.padding_id);
        let (output, dimension) = choose_output(model, &example).map_err(|reason| {
            let why = format!(
                "gives no vector for a text ({}); give the text model of the pair, exported with \
                 its projection, and the tokenizer that belongs to it",
                short_reason(&reason)
            );
            LoadError::new(ROLE, path, &why)
        })?;
        let encoder = Self { model: text_model, tokenizer, inputs, output };
        encoder.check_last_token(both, &tokenizer_path)?;
        Ok(Some((encoder, dimension)))
    }

    /// Runs the last token. This fails if the tokenizer belongs to a larger model and has tokens without an embedding
    /// in this one.
    fn check_last_token(&self, both: &OnnxModel, tokenizer: &Path) -> Result<(), LoadError> {
        let last = self.tokenizer.max_id;
        self.run(both, &[last]).map(drop).map_err(|_| {
            let why = format!(
                "has tokens up to {last}, which the text encoder does not know; give the one that \
                 belongs to it"
            );
            LoadError::new("tokenizer", tokenizer, &why)
        })
    }

    /// Returns the vector of a text, not normalized. `both` is the model for pictures and texts.
    pub fn embed(&self, both: &OnnxModel, text: &str) -> Result<Vec<f32>, String> {
        self.run(both, &self.tokenizer.ids(text)?)
    }

    fn run(&self, both: &OnnxModel, ids: &[i32]) -> Result<Vec<f32>, String> {
        let inputs = self.inputs.tensors(ids, self.tokenizer.padding_id);
        let model = self.model.as_ref().unwrap_or(both);
        let outputs = model.run(&inputs, &[self.output])?;
        let output = outputs.into_iter().next().ok_or("it has no output")?;
        output.into_vector(VectorForm::Row)
    }
}

fn unusable_tokenizer(path: &Path, reason: &str) -> LoadError {
    let why = format!(
        "is not a usable tokenizer ({}); give the tokenizer.json of the text encoder",
        short_reason(&reason)
    );
    LoadError::new("tokenizer", path, &why)
}

/// Returns the output that is a single row, preferably one with a known name, and the length of the row.
fn choose_output(
    model: &OnnxModel,
    example: &[(NodeId, Value)],
) -> Result<(NodeId, usize), String> {
    let mut outputs = model.outputs();
    outputs.sort_by_key(|output| {
        let position = PREFERRED_OUTPUTS.iter().position(|name| *name == output.name);
        position.unwrap_or(PREFERRED_OUTPUTS.len())
    });
    let mut first_reason = None;
    for output in outputs {
        let row = model.run(example, &[output.id]).and_then(|tensors| {
            let tensor = tensors.into_iter().next().ok_or("it has no output")?;
            tensor.into_vector(VectorForm::Row)
        });
        match row {
            Ok(row) => return Ok((output.id, row.len())),
            Err(reason) => first_reason = first_reason.or(Some(reason)),
        }
    }
    Err(first_reason.unwrap_or_else(|| "it has no output".to_owned()))
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

    /// Returns the inputs for these tokens, padded to the fixed length.
    fn tensors(&self, ids: &[i32], padding: i32) -> Vec<(NodeId, Value)> {
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

/// The maximum number of tokens if neither the model nor its files specify one. This is the limit of CLIP.
const DEFAULT_MAX_TOKENS: usize = 77;
/// The maximum number of tokens of a text. The memory of a model grows with the square of this number, and queries and
/// captions are shorter.
const MAX_TOKENS: usize = 2_048;

pub struct TextTokenizer {
    tokenizer: Tokenizer,
    /// Whether texts are converted to lower case first. `SigLIP` was trained with such texts, but some of its
    /// tokenizers do not convert them.
    lowercases: bool,
    pub padding_id: i32,
    pub max_id: i32,
}

impl TextTokenizer {
    /// Reads `tokenizer.json`, and `tokenizer_config.json` if there is one. The defaults used are added to `defaults`.
    /// `length` is the fixed number of tokens of the model, if it has one.
    pub fn read(
        json: &[u8],
        more: Option<&serde_json::Value>,
        config: &ModelConfig,
        length: Option<usize>,
        defaults: &mut Vec<String>,
    ) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|cause| cause.to_string())?;
        let tokenizer_limit = tokenizer.get_truncation().map(|truncation| truncation.max_length);
        let max_tokens = length.or(tokenizer_limit).or(config.max_tokens).unwrap_or_else(|| {
            defaults
                .push(format!("{TOKENIZER} has no limit of tokens; taken: {DEFAULT_MAX_TOKENS}"));
            DEFAULT_MAX_TOKENS
        });
        let max_tokens = max_tokens.min(MAX_TOKENS);
        let special = tokenizer.get_post_processor().map_or(0, |it| it.added_tokens(false));
        if max_tokens <= special {
            return Err(format!("{max_tokens} tokens leave no room for a text"));
        }
        let padding_id = padding_id(&tokenizer, more, defaults)?;
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_padding(None);
        tokenizer.with_truncation(Some(truncation)).map_err(|cause| cause.to_string())?;
        let max_id = tokenizer.get_vocab(true).into_values().max().ok_or("it has no tokens")?;
        let lowercases = config.family == ModelFamily::Siglip;
        Ok(Self { tokenizer, lowercases, padding_id, max_id: to_id(max_id)? })
    }

    /// Returns the token IDs of a text, truncated to the limit.
    pub fn ids(&self, text: &str) -> Result<Vec<i32>, String> {
        let lower;
        let text = if self.lowercases {
            lower = text.to_lowercase();
            &lower
        } else {
            text
        };
        let encoded = self.tokenizer.encode_fast(text, true).map_err(|cause| cause.to_string())?;
        encoded.get_ids().iter().map(|&id| to_id(id)).collect()
    }
}

/// Returns the padding token that one of the files names, or the first token with a usual name: `</s>` in `SigLIP` 1,
/// `<pad>` in `SigLIP` 2, and the last token in CLIP.
fn padding_id(
    tokenizer: &Tokenizer,
    more: Option<&serde_json::Value>,
    defaults: &mut Vec<String>,
) -> Result<i32, String> {
    if let Some(padding) = tokenizer.get_padding() {
        return to_id(padding.pad_id);
    }
    let named = more.map(|more| &more["pad_token"]);
    let named = named.and_then(|token| token.as_str().or_else(|| token["content"].as_str()));
    if let Some(id) = named.and_then(|token| tokenizer.token_to_id(token)) {
        return to_id(id);
    }
    let is_unigram = matches!(tokenizer.get_model(), tokenizers::ModelWrapper::Unigram(_));
    let usual: &[&str] =
        if is_unigram { &["</s>", "<pad>"] } else { &["<pad>", "[PAD]", "<|endoftext|>", "</s>"] };
    let found = usual.iter().find_map(|name| Some((*name, tokenizer.token_to_id(name)?)));
    let (name, id) = found.unwrap_or(("token 0", 0));
    defaults
        .push(format!("neither {TOKENIZER} nor {TOKENIZER_CONFIG} has a padding; taken: {name}"));
    to_id(id)
}

fn to_id(id: u32) -> Result<i32, String> {
    i32::try_from(id).map_err(|_| format!("{id} is not a token ID"))
}
