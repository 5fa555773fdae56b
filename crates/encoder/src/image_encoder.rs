//! Encodes pictures: finds the input and the outputs of an image model, and computes the vector and the label of a
//! picture.

use image::RgbImage;
use rten::{NodeId, Value};
use rten_tensor::{NdTensor, prelude::*};

use crate::{
    classifier::{ConfidentLabel, class_labels, confident_label, head_input},
    error::{LoadError, short_reason},
    model_folder::{CONFIG, ModelFolder},
    onnx_model::{ModelInput, ModelOutput, OnnxModel, VectorForm},
    preprocessing::{InputForm, Preprocessing},
    staged_run::StagedRun,
    tool_settings::{ModelConfig, PictureSettings},
};

const ROLE: &str = "image encoder";
/// The names of outputs that are vectors, most specific first.
const VECTOR_OUTPUTS: [&str; 3] = ["image_embeds", "sentence_embedding", "pooler_output"];
const SCORE_OUTPUT: &str = "logits";
const TOKENS_OUTPUT: &str = "last_hidden_state";

pub struct ImageEncoder {
    pub model: OnnxModel,
    pub preprocessing: Preprocessing,
    input: PictureInput,
    output: ImageOutput,
    run: StagedRun,
    /// The labels of each class, if the model is a classifier.
    pub classes: Vec<Vec<String>>,
}

struct PictureInput {
    id: NodeId,
    /// Whether the channels of a pixel follow each other.
    channels_last: bool,
    is_bytes: bool,
    is_gray: bool,
}

/// The output that is the vector of a picture.
#[derive(Clone, Copy)]
struct ImageOutput {
    vector: NodeId,
    form: VectorForm,
    /// The scores of the classes, if the model is a classifier.
    scores: Option<NodeId>,
    dimension: usize,
}

impl ImageEncoder {
    /// Loads a model and runs it with a gray picture. The defaults used are added to `defaults`.
    pub fn load(
        folder: &ModelFolder,
        config: &ModelConfig,
        defaults: &mut Vec<String>,
    ) -> Result<Self, LoadError> {
        let path = &folder.image_model;
        let model = OnnxModel::load(ROLE, path)?;
        let refuse = |reason: &str| LoadError::new(ROLE, path, reason);
        let inputs = model.inputs();
        let input = inputs.iter().find(|input| input.shape.len() == 4).ok_or_else(|| {
            refuse(
                "takes no picture (no input of four dimensions); give the folder of a vision model",
            )
        })?;
        if let Some(task) = config.metadata.get("task").filter(|task| *task != "classify") {
            let task = short_reason(task);
            return Err(refuse(&format!(
                "is a model for another task ({task}); give a classifier or an image encoder"
            )));
        }
        let (input, form) = PictureInput::new(input).map_err(|reason| refuse(&reason))?;
        let settings = PictureSettings::find(folder, &config.json, &config.metadata, form)?;
        let preprocessing = Preprocessing::read(settings.as_ref(), config.family, form, defaults)
            .map_err(|reason| refuse(&reason))?;
        let (width, height) = preprocessing.size();
        let gray = RgbImage::from_pixel(width, height, image::Rgb([128; 3]));
        let example = [input.tensor(&preprocessing, &gray).map_err(|reason| refuse(&reason))?];
        let chooser = OutputChooser { folder, model: &model, example: &example, config };
        let output = chooser.choose(defaults).map_err(|reason| {
            let reason = short_reason(&reason);
            refuse(&format!(
                "gives no vector for a picture ({reason}); use another export of the model"
            ))
        })?;
        if let (Some(_), Some(problem)) = (output.scores, &config.classes.problem) {
            return Err(problem.clone());
        }
        let names: &[_] = if output.scores.is_some() { &config.classes.names } else { &[] };
        let classes = class_labels(names);
        if output.scores.is_some() && classes.is_empty() {
            defaults.push(format!(
                "{CONFIG} names no classes; taken: no labels, until a labels.txt names one class per line"
            ));
        }
        let scores = output.scores.filter(|id| !classes.is_empty() && *id != output.vector);
        let outputs: Vec<NodeId> = [Some(output.vector), scores].into_iter().flatten().collect();
        let run = StagedRun::new(&model, path, &outputs, &example[0]);
        Ok(Self { model, preprocessing, input, output, run, classes })
    }

    pub fn dimension(&self) -> usize {
        self.output.dimension
    }

    pub fn is_classifier(&self) -> bool {
        self.output.scores.is_some()
    }

    /// Returns the vector of a picture, which is not normalized, and its label.
    pub fn encode(&self, picture: &RgbImage) -> Result<(Vec<f32>, Option<ConfidentLabel>), String> {
        let input = self.input.tensor(&self.preprocessing, picture)?;
        let mut tensors = self.run.run(&self.model, &input)?.into_iter();
        let vector = tensors.next().ok_or("it has no output")?.into_vector(self.output.form)?;
        let scores =
            tensors.next().map(|scores| scores.into_vector(VectorForm::Row)).transpose()?;
        let are_vector = self.output.scores == Some(self.output.vector);
        let scores = if are_vector { Some(&vector) } else { scores.as_ref() };
        let label = scores.and_then(|scores| confident_label(scores, &self.classes));
        Ok((vector, label))
    }
}

impl PictureInput {
    /// Returns the input, and what is fixed of it.
    fn new(input: &ModelInput) -> Result<(Self, InputForm), String> {
        let wrong = || {
            let side =
                |side: &Option<usize>| side.map_or("any".to_owned(), |side| side.to_string());
            let shape = input.shape.iter().map(side).collect::<Vec<_>>().join(", ");
            format!(
                "takes pictures as [{shape}] and not one at a time with one or three channels; export it again in that form"
            )
        };
        let [batch, first, second, third] = input.shape[..] else { return Err(wrong()) };
        let has_channels = |side: Option<usize>| matches!(side, Some(1 | 3));
        let channels_last = !has_channels(first) && has_channels(third);
        let (channels, height, width) =
            if channels_last { (third, first, second) } else { (first, second, third) };
        if batch.is_some_and(|batch| batch != 1) || channels.is_some() && !has_channels(channels) {
            return Err(wrong());
        }
        let side = |side: Option<usize>| side.map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        let (id, is_bytes, is_gray) = (input.id, input.is_bytes, channels == Some(1));
        let form = InputForm { width: side(width), height: side(height), is_bytes, is_gray };
        Ok((Self { id, channels_last, is_bytes, is_gray }, form))
    }

    fn tensor(
        &self,
        preprocessing: &Preprocessing,
        picture: &RgbImage,
    ) -> Result<(NodeId, Value), String> {
        let pixels = if self.is_gray {
            preprocessing.apply(&gray(picture))?
        } else {
            preprocessing.apply(picture)?
        };
        let (width, height) = preprocessing.size();
        let (width, height) = (width as usize, height as usize);
        let (shape, numbers): (_, Vec<f32>) = if self.is_gray {
            let shape =
                if self.channels_last { [1, height, width, 1] } else { [1, 1, height, width] };
            (shape, pixels.iter().map(|[gray, ..]| *gray).collect())
        } else if self.channels_last {
            ([1, height, width, 3], pixels.into_flattened())
        } else {
            let channel = |at: usize| pixels.iter().map(move |pixel| pixel[at]);
            ([1, 3, height, width], (0..3).flat_map(channel).collect())
        };
        let tensor = NdTensor::try_from_data(shape, numbers).map_err(|cause| cause.to_string())?;
        let value = if self.is_bytes { to_bytes(&tensor).into() } else { tensor.into() };
        Ok((self.id, value))
    }
}

/// Returns a picture whose channels are its luma, as the Python Imaging Library computes it.
fn gray(picture: &RgbImage) -> RgbImage {
    let mut gray = picture.clone();
    for pixel in gray.pixels_mut() {
        let [red, green, blue] = pixel.0.map(u32::from);
        let luma = (red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16;
        pixel.0 = [u8::try_from(luma).unwrap_or(u8::MAX); 3];
    }
    gray
}

/// Converts colors that were not scaled. They are whole numbers from 0 to 255.
fn to_bytes(tensor: &NdTensor<f32, 4>) -> NdTensor<u8, 4> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion saturates"
    )]
    tensor.map(|number| *number as u8)
}

/// Finds the output of a model that is the vector of a picture.
struct OutputChooser<'a> {
    folder: &'a ModelFolder,
    model: &'a OnnxModel,
    example: &'a [(NodeId, Value)],
    config: &'a ModelConfig,
}

impl OutputChooser<'_> {
    /// Chooses a named vector, the value that the head of a classifier reads, any other row, or the first token, in
    /// this order.
    fn choose(&self, defaults: &mut Vec<String>) -> Result<ImageOutput, String> {
        let outputs = self.model.outputs();
        let named = |name: &str| outputs.iter().find(|output| output.name == name);
        let mut reasons = Vec::new();
        for output in VECTOR_OUTPUTS.into_iter().filter_map(named) {
            match self.vector_at(output.id) {
                Ok(found) if found.form == VectorForm::Row => {
                    let scores = self.scores_at(named(SCORE_OUTPUT))?;
                    return Ok(ImageOutput { scores, ..found });
                }
                Ok(_) => {}
                Err(reason) => reasons.push(reason),
            }
        }
        let others = outputs.iter().filter(|output| output.name != TOKENS_OUTPUT);
        let mut vectors = Vec::new();
        for output in others.chain(named(TOKENS_OUTPUT)) {
            match self.vector_at(output.id) {
                Ok(found) if self.are_scores(&found, &output.name) => {
                    return self.before_head(&found, &output.name, defaults);
                }
                Ok(found) => vectors.push(found),
                Err(reason) => reasons.push(reason),
            }
        }
        if let Some(found) = vectors.into_iter().next() {
            self.report_unused_names(&found, defaults);
            return Ok(found);
        }
        Err(reasons.into_iter().next().unwrap_or_else(|| "it has no output".to_owned()))
    }

    fn vector_at(&self, id: NodeId) -> Result<ImageOutput, String> {
        let tensors = self.model.run(self.example, &[id])?;
        let tensor = tensors.into_iter().next().ok_or("it has no output")?;
        let form = tensor.form()?;
        let dimension = tensor.into_vector(form)?.len();
        Ok(ImageOutput { vector: id, form, scores: None, dimension })
    }

    /// Whether an output has a score for each class.
    fn are_scores(&self, found: &ImageOutput, name: &str) -> bool {
        let classes = &self.config.classes;
        let counts = [classes.count, Some(classes.names.len())];
        found.form == VectorForm::Row
            && (name == SCORE_OUTPUT || counts.contains(&Some(found.dimension)))
    }

    /// Returns the vector that the head of a classifier reads, with the scores that it gives. Without such a head, as
    /// in a network that ends with a convolution, the scores are the vector.
    fn before_head(
        &self,
        scores: &ImageOutput,
        name: &str,
        defaults: &mut Vec<String>,
    ) -> Result<ImageOutput, String> {
        self.check_classes(scores.dimension)?;
        let head = head_input(&self.folder.image_model, name).and_then(|value| {
            let id = self.model.value_id(&value);
            let id = id.ok_or_else(|| {
                format!("the input {} of its head is not kept", short_reason(&value))
            })?;
            self.vector_at(id)
        });
        let vector = head.unwrap_or_else(|reason| {
            defaults.push(format!("{reason}; taken: its scores as the vector"));
            *scores
        });
        Ok(ImageOutput { scores: Some(scores.vector), ..vector })
    }

    fn report_unused_names(&self, found: &ImageOutput, defaults: &mut Vec<String>) {
        let classes = &self.config.classes;
        if !classes.names.is_empty() && found.form == VectorForm::Row {
            let (named, source) = (classes.names.len(), &classes.source);
            let dimension = found.dimension;
            defaults.push(format!(
                "{source} names {named} classes, and the output has {dimension} numbers; taken: a vector without labels"
            ));
        }
    }

    /// Returns the scores of an image encoder that also scores classes.
    fn scores_at(&self, output: Option<&ModelOutput>) -> Result<Option<NodeId>, String> {
        let output = output.filter(|_| !self.config.classes.names.is_empty());
        let Some(id) = output.map(|output| output.id) else { return Ok(None) };
        self.check_classes(self.vector_at(id)?.dimension)?;
        Ok(Some(id))
    }

    fn check_classes(&self, scored: usize) -> Result<(), String> {
        let classes = &self.config.classes;
        if classes.names.is_empty() || classes.fit(scored) {
            return Ok(());
        }
        let (named, source) = (classes.names.len(), &classes.source);
        Err(format!("it scores {scored} classes, and {source} names {named}"))
    }
}
