//! Writes model folders in the layout of model hubs. Their models know three colors and nothing else.

use std::{fs, path::Path};

use rten_onnx::onnx::DataType;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tiny_graph::{Attribute, TinyGraph};

/// The colors that the models know, each with the direction of its pictures and texts.
pub const COLORS: [(&str, [u8; 3], [f32; 3]); 3] = [
    ("red", [250, 10, 10], [1.0, -1.0, -1.0]),
    ("green", [10, 250, 10], [-1.0, 1.0, -1.0]),
    ("blue", [10, 10, 250], [-1.0, -1.0, 1.0]),
];
/// The dimension of the vectors.
pub const DIMENSION: usize = 4;
/// The side of a picture in pixels.
pub const SIDE: i64 = 8;

const PADDING: &str = "<pad>";
const END: &str = "</s>";
/// The number that every padding token adds to the last number of a text's vector.
const PADDING_WEIGHT: f32 = 0.01;

/// The vectors of pictures, by the mean of each color.
pub type Weights = [[f32; DIMENSION]; 3];
pub const OWN_COLORS: Weights = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
/// The worst vectors that a model can have: every text is nearest to pictures that do not show it.
pub const OPPOSITE_COLORS: Weights =
    [[-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0]];

/// A temporary model folder.
pub struct ModelFolder(TempDir);

impl ModelFolder {
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    #[must_use]
    pub fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    #[must_use]
    pub fn with_json(self, name: &str, value: &Value) -> Self {
        self.with(name, value.to_string())
    }

    #[must_use]
    pub fn without(self, name: &str) -> Self {
        fs::remove_file(self.path().join(name)).unwrap();
        self
    }

    /// Writes a pair like CLIP, with two files, and with texts of at most 8 tokens with a mask.
    pub fn clip() -> Self {
        Self::clip_with(OWN_COLORS)
    }

    pub fn clip_with(weights: Weights) -> Self {
        Self::empty()
            .with("onnx/vision_model.onnx", image_model("image_embeds", weights))
            .with("onnx/text_model.onnx", masked_text_model())
            .with_json("tokenizer.json", &byte_pair_tokenizer())
            .with_json("tokenizer_config.json", &json!({"pad_token": "<|endoftext|>"}))
            .with_json("config.json", &json!({"model_type": "clip"}))
            .with_json("preprocessor_config.json", &preprocessor())
    }

    /// Writes a pair like CLIP, whose image encoder has its weights in a file named `name`. The model states `length`
    /// for the weights of each tensor, or their real length.
    pub fn external(name: &str, weights: Weights, length: Option<u64>) -> Self {
        let graph = image_nodes(TinyGraph::default(), "image_embeds", weights);
        let (graph, file) = graph.with_external_weights(name, length);
        Self::clip()
            .with("onnx/vision_model.onnx", graph.to_bytes())
            .with(&format!("onnx/{name}"), file)
    }

    /// Writes a pair like `SigLIP`, with one file, and with texts that are always padded.
    pub fn siglip() -> Self {
        let both = text_nodes(image_nodes(TinyGraph::default(), "image_embeds", OWN_COLORS));
        Self::empty()
            .with("onnx/model.onnx", both.to_bytes())
            .with_json("tokenizer.json", &unigram_tokenizer())
            .with_json("config.json", &json!({"model_type": "siglip", "text_config": {}}))
            .with_json("preprocessor_config.json", &preprocessor())
    }

    /// Writes a classifier of the three colors.
    pub fn classifier() -> Self {
        Self::classifier_of(COLORS.map(|(name, ..)| name))
    }

    /// Writes a classifier that has other names for red, green and blue.
    pub fn classifier_of(names: [&str; 3]) -> Self {
        Self::empty()
            .with("onnx/model.onnx", classifier_model())
            .with_json("config.json", &json!({"model_type": "vit", "id2label": id2label(names)}))
            .with_json("preprocessor_config.json", &preprocessor())
    }

    /// Writes a pair like CLIP that also scores classes.
    pub fn labeling_pair(names: [&str; 3]) -> Self {
        let image = image_nodes(TinyGraph::default(), "image_embeds", OWN_COLORS);
        Self::clip()
            .with("onnx/vision_model.onnx", color_scores(image).to_bytes())
            .with_json("config.json", &json!({"model_type": "own", "id2label": id2label(names)}))
    }

    /// Writes an encoder whose vector is the highest value of each color among all pixels.
    pub fn brightest(side: i64) -> Self {
        let axes =
            vec![("axes", Attribute::Integers(vec![2, 3])), ("keepdims", Attribute::Integer(0))];
        let graph = TinyGraph::default()
            .input("pixel_values", DataType::FLOAT, &[None, Some(3), Some(side), Some(side)])
            .node_with("ReduceMax", &["pixel_values"], "image_embeds", axes)
            .output("image_embeds", &[None, Some(3)]);
        let mut preprocessor = preprocessor();
        preprocessor["size"] = json!({"height": side, "width": side});
        Self::empty()
            .with("onnx/model.onnx", graph.to_bytes())
            .with_json("config.json", &json!({"model_type": "own"}))
            .with_json("preprocessor_config.json", &preprocessor)
    }

    /// Writes an encoder like DINO, which returns a sequence of tokens, of which the first is the vector. The channels
    /// of a pixel follow each other in its input.
    pub fn tokens() -> Self {
        Self::tokens_in_order(["first", "others"])
    }

    /// Writes an encoder that gives every picture the same vector.
    pub fn blind() -> Self {
        Self::tokens_in_order(["others", "first"])
    }

    fn tokens_in_order(order: [&str; 2]) -> Self {
        Self::empty()
            .with("model.onnx", token_model(order))
            .with_json("config.json", &json!({"model_type": "dinov2"}))
            .with_json("preprocessor_config.json", &preprocessor())
    }
}

pub fn preprocessor() -> Value {
    json!({"size": {"height": SIDE, "width": SIDE}, "resample": 2, "rescale_factor": 1.0 / 255.0,
           "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})
}

/// Returns a model that multiplies the mean color with weights.
pub fn image_model(output: &str, weights: Weights) -> Vec<u8> {
    image_nodes(TinyGraph::default(), output, weights).to_bytes()
}

fn image_nodes(graph: TinyGraph, output: &str, weights: Weights) -> TinyGraph {
    let shape = [None, Some(3), Some(SIDE), Some(SIDE)];
    mean_color(graph.input("pixel_values", DataType::FLOAT, &shape), "pixel_values")
        .node("MatMul", &["flat", "weights"], output)
        .floats("weights", &[3, 4], weights.as_flattened())
        .output(output, &[None, Some(4)])
}

/// Returns a model that takes the colors as bytes.
pub fn byte_model() -> Vec<u8> {
    let floats = vec![("to", Attribute::Integer(1))];
    let shape = [None, Some(3), Some(SIDE), Some(SIDE)];
    let graph = TinyGraph::default().input("image", DataType::UINT8, &shape);
    mean_color(graph.node_with("Cast", &["image"], "floats", floats), "floats")
        .node("Identity", &["flat"], "embedding")
        .output("embedding", &[None, Some(3)])
        .to_bytes()
}

/// Returns a model whose vector is the shades of all pixels.
pub fn gray_model() -> Vec<u8> {
    TinyGraph::default()
        .input("image", DataType::FLOAT, &[None, Some(1), Some(SIDE), Some(SIDE)])
        .node("Flatten", &["image"], "embedding")
        .output("embedding", &[None, Some(SIDE * SIDE)])
        .to_bytes()
}

/// Adds an entry of metadata to the bytes of a model. The entry has less than 128 bytes.
#[must_use]
pub fn with_metadata(mut model: Vec<u8>, key: &str, value: &str) -> Vec<u8> {
    let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
    let mut entry = vec![0x0A, length(key.as_bytes())];
    entry.extend(key.bytes());
    entry.extend([0x12, length(value.as_bytes())]);
    entry.extend(value.bytes());
    model.extend([0x72, length(&entry)]);
    model.extend(entry);
    model
}

fn mean_color(graph: TinyGraph, pixels: &str) -> TinyGraph {
    graph.node("GlobalAveragePool", &[pixels], "mean").node("Flatten", &["mean"], "flat")
}

fn id2label(names: [&str; 3]) -> Value {
    json!({"0": names[0], "1": names[1], "2": names[2]})
}

/// Returns a model that scores the three colors.
pub fn classifier_model() -> Vec<u8> {
    let graph = image_nodes(TinyGraph::default(), "features", OWN_COLORS);
    color_scores(graph).only_output("logits", &[None, Some(3)]).to_bytes()
}

/// Adds the scores of the three colors.
fn color_scores(graph: TinyGraph) -> TinyGraph {
    let head: Vec<f32> =
        COLORS.iter().flat_map(|(.., direction)| direction.map(|x| x * 9.0)).collect();
    graph
        .node("MatMul", &["flat", "head"], "scores")
        .node("Add", &["scores", "bias"], "logits")
        .floats("head", &[3, 3], &head)
        .floats("bias", &[3], &[0.0; 3])
        .output("logits", &[None, Some(3)])
}

fn token_model(tokens: [&str; 2]) -> Vec<u8> {
    let shape = [Some(1), Some(SIDE), Some(SIDE), Some(3)];
    let order = vec![("perm", Attribute::Integers(vec![0, 3, 1, 2]))];
    let graph = TinyGraph::default().input("pixel_values", DataType::FLOAT, &shape).node_with(
        "Transpose",
        &["pixel_values"],
        "channels_first",
        order,
    );
    mean_color(graph, "channels_first")
        .node("Unsqueeze", &["flat", "one"], "first")
        .node_with("Concat", &tokens, "last_hidden_state", vec![("axis", Attribute::Integer(1))])
        .integers("one", &[1])
        .floats("others", &[1, 2, 3], &[9.0; 6])
        .output("last_hidden_state", &[None, Some(3), Some(3)])
        .to_bytes()
}

/// Returns a model that adds the directions of those of 8 tokens that the mask keeps.
pub fn masked_text_model() -> Vec<u8> {
    let shape = [None, Some(8)];
    TinyGraph::default()
        .input("input_ids", DataType::INT64, &shape)
        .input("attention_mask", DataType::INT64, &shape)
        .node("Gather", &["table", "input_ids"], "rows")
        .node_with("Cast", &["attention_mask"], "floats", vec![("to", Attribute::Integer(1))])
        .node("Unsqueeze", &["floats", "last"], "mask")
        .node("Mul", &["rows", "mask"], "masked")
        .node_with(
            "ReduceSum",
            &["masked", "middle"],
            "sum",
            vec![("keepdims", Attribute::Integer(0))],
        )
        .node("Add", &["sum", "bias"], "text_embeds")
        .table(&byte_pair_tokens())
        .integers("last", &[2])
        .integers("middle", &[1])
        .floats("bias", &[4], &[0.0, 0.0, 0.0, 0.05])
        .output("text_embeds", &[None, Some(4)])
        .to_bytes()
}

/// Adds the directions of any number of tokens, without a mask.
fn text_nodes(graph: TinyGraph) -> TinyGraph {
    let keep = vec![("keepdims", Attribute::Integer(0))];
    graph
        .input("input_ids", DataType::INT64, &[None, None])
        .node("Gather", &["table", "input_ids"], "last_hidden_state")
        .node_with("ReduceSum", &["last_hidden_state", "middle"], "text_embeds", keep)
        .table(&UNIGRAM_TOKENS.map(str::to_owned))
        .integers("middle", &[1])
        .output("text_embeds", &[None, Some(4)])
}

impl TinyGraph {
    /// Adds a table with one row per token. Colors and padding have a direction; all other tokens have none.
    fn table(self, tokens: &[String]) -> Self {
        let row = |token: &String| {
            let word = token.trim_start_matches('▁').trim_end_matches("</w>");
            let color = COLORS.iter().find(|(name, ..)| *name == word);
            let [red, green, blue] = color.map_or([0.0; 3], |(.., direction)| *direction);
            [red, green, blue, if token == END { PADDING_WEIGHT } else { 0.0 }]
        };
        let rows: Vec<f32> = tokens.iter().flat_map(row).collect();
        self.floats("table", &[tokens.len().try_into().unwrap(), 4], &rows)
    }
}

fn added(ids: &[(&str, usize)]) -> Value {
    let token = |(content, id): &(&str, usize)| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    ids.iter().map(token).collect()
}

/// Returns letters, and the parts of words that become the names of colors.
fn byte_pair_tokens() -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    let mut tokens: Vec<String> = letters.clone().chain(letters.map(|it| it + "</w>")).collect();
    tokens.extend(merges().into_iter().map(|(left, right)| left + &right));
    tokens.extend(["<|startoftext|>", "<|endoftext|>"].map(str::to_owned));
    tokens
}

/// Returns the pairs that are merged to one token, so that every color finally becomes one token.
fn merges() -> Vec<(String, String)> {
    let mut merges: Vec<(String, String)> = Vec::new();
    for (name, ..) in COLORS {
        let (start, end) = name.split_at(name.len() - 1);
        let mut parts: Vec<String> = start.chars().map(String::from).collect();
        parts.push(format!("{end}</w>"));
        for pair in &merges {
            merge(&mut parts, pair);
        }
        while let [left, right, ..] = &parts[..] {
            let pair = (left.clone(), right.clone());
            merge(&mut parts, &pair);
            merges.push(pair);
        }
    }
    merges
}

fn merge(parts: &mut Vec<String>, (left, right): &(String, String)) {
    let mut at = 0;
    while at + 1 < parts.len() {
        if (&parts[at], &parts[at + 1]) == (left, right) {
            let right = parts.remove(at + 1);
            parts[at].push_str(&right);
        }
        at += 1;
    }
}

/// Returns a tokenizer of byte pairs with ends of words, like that of CLIP.
pub fn byte_pair_tokenizer() -> Value {
    let tokens = byte_pair_tokens();
    let vocabulary: Value = tokens
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), json!(id)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let [start, end] = [tokens.len() - 2, tokens.len() - 1];
    let pairs: Vec<String> =
        merges().iter().map(|(left, right)| format!("{left} {right}")).collect();
    json!({
        "version": "1.0",
        "added_tokens": added(&[("<|startoftext|>", start), ("<|endoftext|>", end)]),
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": r"[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"},
             "behavior": "Removed", "invert": true},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        ]},
        "post_processor": {"type": "RobertaProcessing", "trim_offsets": false, "add_prefix_space": false,
            "cls": ["<|startoftext|>", start], "sep": ["<|endoftext|>", end]},
        "model": {"type": "BPE", "unk_token": "<|endoftext|>", "end_of_word_suffix": "</w>",
            "vocab": vocabulary, "merges": pairs},
    })
}

const UNIGRAM_TOKENS: [&str; 8] =
    [PADDING, END, "<unk>", "▁red", "▁green", "▁blue", "▁a", "▁picture"];

/// Returns a tokenizer that chooses the likeliest pieces, like that of `SigLIP`. None of its words is in upper case.
pub fn unigram_tokenizer() -> Value {
    let vocabulary: Vec<Value> = UNIGRAM_TOKENS.iter().map(|token| json!([token, -1.0])).collect();
    json!({
        "version": "1.0",
        "added_tokens": added(&[(PADDING, 0), (END, 1), ("<unk>", 2)]),
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocabulary, "byte_fallback": false},
    })
}
