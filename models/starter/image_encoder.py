"""Writes EfficientNet-Lite0 as an ONNX model of pictures, with a vector that can also be compared with texts."""

import math

from build_error import BuildError
from numbers_of_bytes import float_bytes
from onnx_file import FLOAT, Graph

SIDE = 224
CLASSES = 1000
FEATURES = 1280
DIMENSION = CLASSES + FEATURES
# The maximum length of the probabilities. The features have the rest of the length of 1. Look-alikes are equally good
# from 0.3 to 0.7, and a larger value makes the scores of texts differ more.
PROBABILITY_SCALE = 0.7
# The number that TensorFlow adds to variances.
EPSILON = 1e-3
# The stages that begin with half the width and height.
HALVED_STAGES = (1, 2, 3, 5)
# The model was trained with colors of (value - 127) / 128.
PREPROCESSOR = {
    "do_resize": True,
    "size": {"height": SIDE, "width": SIDE},
    "do_center_crop": False,
    "resample": 3,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": [127 / 255] * 3,
    "image_std": [128 / 255] * 3,
}


class Network:
    """Writes the layers of a checkpoint into a graph."""

    def __init__(self, graph, tensors):
        self.graph = graph
        self.tensors = dict(tensors)
        self.side = SIDE
        self.zero, self.six = graph.float("zero", 0.0), graph.float("six", 6.0)

    def take(self, name, *sizes):
        """Returns a tensor of the checkpoint and removes it, because each one is used once. `None` allows any size."""
        tensor = self.tensors.pop(name, None)
        if tensor is None:
            raise BuildError(f"the checkpoint has no layer {name}; use another package")
        fits = len(tensor.sizes) == len(sizes) and all(b in (None, a) for a, b in zip(tensor.sizes, sizes))
        if not fits:
            raise BuildError(f"the layer {name} of the checkpoint has the sizes {tensor.sizes}; use another package")
        return tensor

    def convolution(self, value, layer, norm, stride=1, activated=True):
        """Adds a convolution. The normalization that follows it becomes part of its weights."""
        weights = self.take(f"{layer}.weight", None, None, None, None)
        outputs, inputs, size, _ = weights.sizes
        normalization = [self.take(f"{norm}.{it}", outputs).numbers for it in ("weight", "bias", "running_mean")]
        variances = self.take(f"{norm}.running_var", outputs).numbers
        scales = [gamma / math.sqrt(it + EPSILON) for gamma, it in zip(normalization[0], variances)]
        bias = [beta - mean * scale for beta, mean, scale in zip(*normalization[1:], scales)]
        count = inputs * size * size
        scaled = [it * scales[at // count] for at, it in enumerate(weights.numbers)]
        value = self.graph.node(
            "Conv",
            value,
            self.graph.constant(f"{layer}.weight", FLOAT, weights.sizes, float_bytes(scaled)),
            self.graph.constant(f"{layer}.bias", FLOAT, [outputs], float_bytes(bias)),
            kernel_shape=[size, size],
            strides=[stride, stride],
            pads=self.padding(size, stride),
            group=outputs if inputs == 1 else 1,
        )
        return self.graph.node("Clip", value, self.zero, self.six) if activated else value

    def padding(self, size, stride):
        """Returns the padding with which the output has the size divided by the stride. An odd pixel is at the end."""
        result = math.ceil(self.side / stride)
        whole = max((result - 1) * stride + size - self.side, 0)
        self.side = result
        return [whole // 2, whole // 2, whole - whole // 2, whole - whole // 2]

    def block(self, value, number, inputs, stride):
        """Adds a block that expands, filters and projects. Returns its output and the number of channels."""
        name = f"_blocks.{number}"
        result = value
        if f"{name}._expand_conv.weight" in self.tensors:
            result = self.convolution(result, f"{name}._expand_conv", f"{name}._bn0")
        result = self.convolution(result, f"{name}._depthwise_conv", f"{name}._bn1", stride)
        outputs = self.tensors[f"{name}._project_conv.weight"].sizes[0]
        result = self.convolution(result, f"{name}._project_conv", f"{name}._bn2", activated=False)
        if stride == 1 and inputs == outputs:
            result = self.graph.node("Add", result, value)
        return result, outputs

    def features(self, pixels):
        channels = self.tensors["_conv_stem.weight"].sizes[0]
        value = self.convolution(pixels, "_conv_stem", "_bn0", stride=2)
        blocks = {int(name.split(".")[1]) for name in self.tensors if name.startswith("_blocks.")}
        stage, width = -1, None
        for number in sorted(blocks):
            outputs = self.tensors[f"_blocks.{number}._project_conv.weight"].sizes[0]
            begins = outputs != width
            stage, width = stage + begins, outputs
            stride = 2 if begins and stage in HALVED_STAGES else 1
            value, channels = self.block(value, number, channels, stride)
        value = self.convolution(value, "_conv_head", "_bn1")
        return self.graph.node("Flatten", self.graph.node("GlobalAveragePool", value), axis=1)

    def scores(self, features):
        weights = self.take("_fc.weight", CLASSES, FEATURES)
        bias = self.take("_fc.bias", CLASSES)
        weights = self.graph.constant("_fc.weight", FLOAT, weights.sizes, float_bytes(weights.numbers))
        bias = self.graph.constant("_fc.bias", FLOAT, bias.sizes, float_bytes(bias.numbers))
        return self.graph.node("Gemm", features, weights, bias, output="logits", transB=1)


def picture_vector(graph, features, scores):
    """Adds the vector of a picture, which has length 1: the scaled probabilities of the classes, then the direction of
    the features.

    A text has numbers only for the classes. Its cosine with a picture is therefore proportional to the probability that
    the picture shows what the text names, whatever else the picture shows.
    """
    probabilities = graph.node("Softmax", scores, axis=1)
    probabilities = graph.node("Mul", probabilities, graph.float("probability_scale", PROBABILITY_SCALE))
    square = graph.node("ReduceSumSquare", probabilities, axes=[1])
    rest = graph.node("Sqrt", graph.node("Sub", graph.float("one", 1.0), square))
    direction = graph.node("Div", features, graph.node("ReduceL2", features, axes=[1]))
    direction = graph.node("Mul", direction, rest)
    graph.node("Concat", probabilities, direction, output="image_embeds", axis=1)


def image_encoder(tensors):
    """Returns the content of the ONNX file for the tensors of a checkpoint."""
    graph = Graph("image_encoder")
    network = Network(graph, tensors)
    features = network.features(graph.input("pixel_values", FLOAT, ["batch", 3, SIDE, SIDE]))
    scores = network.scores(features)
    picture_vector(graph, features, scores)
    if network.tensors:
        unused = ", ".join(sorted(network.tensors)[:3])
        raise BuildError(f"the checkpoint has layers that are not of EfficientNet-Lite0 ({unused}); use another package")
    graph.output("image_embeds", FLOAT, ["batch", DIMENSION])
    graph.output("logits", FLOAT, ["batch", CLASSES])
    return graph.to_bytes()
