use std::fs;

use rten_onnx::onnx::DataType;
use rten_tensor::NdTensor;
use tessera_testing::tiny_graph::{Attribute, TinyGraph};

use super::*;

const CHANNELS: i64 = 12;
const SIDE: i64 = 10;

/// Returns numbers from -1 to 1 that repeat only after 101 numbers.
fn numbers(count: i64, seed: i64) -> Vec<f32> {
    let number = |at: i64| f32::from(u8::try_from((at * 37 + seed) % 101).unwrap()) / 50.0 - 1.0;
    (0..count).map(number).collect()
}

/// Builds a graph for pictures, with many channels and with limited activations.
fn graph() -> TinyGraph {
    let shape = [None, Some(3), Some(SIDE), Some(SIDE)];
    TinyGraph::default()
        .input("pixels", DataType::FLOAT, &shape)
        .floats("zero", &[], &[0.0])
        .floats("six", &[], &[0.6])
        .convolution("pixels", "expanded", [CHANNELS, 3, 1], 1)
}

trait Convolutions {
    /// Adds a convolution. `weights` are its numbers of outputs, inputs and rows.
    fn convolution(self, from: &str, to: &str, weights: [i64; 3], stride: i64) -> Self;
    fn depthwise(self, from: &str, to: &str, stride: i64) -> Self;
}

impl Convolutions for TinyGraph {
    fn convolution(
        self,
        from: &str,
        to: &str,
        [outputs, inputs, size]: [i64; 3],
        stride: i64,
    ) -> Self {
        let [weights, bias] = ["weights", "bias"].map(|what| format!("{what} of {to}"));
        let around = Attribute::Integers(vec![size / 2; 4]);
        let attributes = vec![
            ("group", Attribute::Integer(if inputs == 1 { outputs } else { 1 })),
            ("kernel_shape", Attribute::Integers(vec![size; 2])),
            ("strides", Attribute::Integers(vec![stride; 2])),
            ("pads", around),
        ];
        let count = outputs * inputs * size * size;
        self.floats(&weights, &[outputs, inputs, size, size], &numbers(count, 7 + size))
            .floats(&bias, &[outputs], &numbers(outputs, 2))
            .node_with("Conv", &[from, &weights, &bias], to, attributes)
    }

    fn depthwise(self, from: &str, to: &str, stride: i64) -> Self {
        self.convolution(from, to, [CHANNELS, 1, 3], stride)
    }
}

/// Returns the number of depthwise convolutions that are computed here. Checks that all outputs equal those of the
/// whole model.
fn computed_here(graph: TinyGraph, outputs: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let graph = outputs.iter().fold(graph, |graph, name| graph.output(name, &[None; 4]));
    fs::write(&path, graph.to_bytes()).unwrap();
    let model = OnnxModel::load("model", &path).unwrap();
    let outputs: Vec<NodeId> = model.outputs().iter().map(|output| output.id).collect();
    let pixels = |seed| {
        let count = 3 * SIDE * SIDE;
        let side = usize::try_from(SIDE).unwrap();
        let pixels = NdTensor::from_data([1, 3, side, side], numbers(count, seed));
        (model.inputs()[0].id, Value::from(pixels))
    };
    let run = StagedRun::new(&model, &path, &outputs, &pixels(0));
    for seed in 0..3 {
        let whole = model.run(&[pixels(seed)], &outputs).unwrap();
        assert_eq!(run.run(&model, &pixels(seed)).unwrap(), whole);
    }
    run.stages.iter().map(|stage| stage.convolutions.len()).sum()
}

#[test]
fn blocks_with_residual_connections_give_what_the_whole_model_gives() {
    let graph = graph()
        .node("Clip", &["expanded", "zero", "six"], "a")
        .depthwise("a", "filtered", 1)
        .node("Clip", &["filtered", "zero", "six"], "b")
        .convolution("b", "projected", [CHANNELS, CHANNELS, 1], 1)
        .node("Add", &["projected", "expanded"], "c")
        .depthwise("c", "halved", 2)
        .node("Relu", &["halved"], "d")
        .convolution("d", "last", [4, CHANNELS, 1], 1);
    assert_eq!(computed_here(graph, &["last"]), 2);
}

#[test]
fn branches_and_values_that_are_outputs_are_kept() {
    let graph = graph()
        .node("Relu", &["expanded"], "a")
        .depthwise("a", "left", 1)
        .depthwise("a", "right", 1)
        .depthwise("right", "twice", 1)
        .node("Add", &["left", "twice"], "sum")
        .node("Relu", &["sum"], "last");
    assert_eq!(computed_here(graph, &["last", "a", "right", "left"]), 3);
}

#[test]
fn what_the_runtime_merges_or_alone_can_compute_is_left_to_it() {
    let same = vec![
        ("group", Attribute::Integer(CHANNELS)),
        ("kernel_shape", Attribute::Integers(vec![3; 2])),
        ("auto_pad", Attribute::Text("SAME_UPPER".to_owned())),
    ];
    let graph = graph()
        .floats("offsets", &[CHANNELS, 1, 1], &numbers(CHANNELS, 4))
        .depthwise("expanded", "a", 1)
        .node("Add", &["a", "offsets"], "b")
        .node_with("Conv", &["b", "weights of a"], "c", same)
        .node("Relu", &["c"], "d")
        .depthwise("d", "last", 1);
    assert_eq!(computed_here(graph, &["last"]), 1);
}

#[test]
fn a_convolution_of_the_input_itself_is_left_to_the_runtime() {
    let shape = [None, Some(3), Some(SIDE), Some(SIDE)];
    let graph = TinyGraph::default().input("pixels", DataType::FLOAT, &shape).convolution(
        "pixels",
        "last",
        [3, 1, 3],
        1,
    );
    assert_eq!(computed_here(graph, &["last"]), 0);
}
