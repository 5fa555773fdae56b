"""Writes the ONNX model of texts, which finds the classes that a text names by word vectors and WordNet."""

import json
import struct

from build_error import BuildError
from image_encoder import CLASSES, FEATURES
from numbers_of_bytes import float_bytes, halves, unit
from onnx_file import FLOAT, FLOAT16, INT64, UINT8, Graph

VECTOR = 256
# How much more near words count than far ones. At 20, a text that is a word of WordNet has almost all its weight on
# that word, and a description has its weight on its few nearest words.
SHARPNESS = 20.0


class WordVectors:
    """Word vectors. The vector of a text is the mean of the vectors of its pieces."""

    def __init__(self, safetensors, pieces):
        (length,) = struct.unpack_from("<Q", safetensors)
        header = json.loads(safetensors[8 : 8 + length])
        tables = [it for name, it in header.items() if name != "__metadata__"]
        shape = [len(pieces.ids), VECTOR]
        if len(tables) != 1 or tables[0]["dtype"] != "F16" or tables[0]["shape"] != shape:
            raise BuildError(f"the word vectors are not one table of {shape} half-precision numbers; use another package")
        begin, end = tables[0]["data_offsets"]
        self.table = safetensors[8 + length + begin : 8 + length + end]
        self.pieces = pieces

    def of(self, text):
        width = 2 * VECTOR
        rows = [halves(self.table[width * it : width * (it + 1)]) for it in self.pieces.ids_of(text)]
        return unit([sum(column) for column in zip(*rows)])


def named_classes(classes, nouns):
    """Returns the words of the classes and of everything they are kinds of, with the numbers of these classes."""
    below = {}
    for number, synset in enumerate(classes):
        for each in nouns.with_hypernyms(synset):
            below.setdefault(each, []).append(number)
    return [(word, below[each]) for each in sorted(below) for word in nouns.words[each]]


def text_encoder(vectors, names):
    """Returns the content of the ONNX file. `names` are words with the numbers of the classes that they name."""
    graph = Graph("text_encoder")
    text = text_vector(graph, vectors)
    words = b"".join(float_bytes(vectors.of(word)) for word, _ in names)
    words = graph.constant("words", FLOAT, [len(names), VECTOR], words)
    nearness = graph.node("Gemm", text, words, alpha=SHARPNESS, transB=1)
    weights = graph.node("Softmax", nearness, axis=1)
    rows = bytearray(len(names) * CLASSES)
    for row, (_, classes) in enumerate(names):
        for number in classes:
            rows[row * CLASSES + number] = 1
    rows = graph.constant("named_classes", UINT8, [len(names), CLASSES], bytes(rows))
    named = graph.node("MatMul", weights, graph.node("Cast", rows, to=FLOAT))
    graph.node("Pad", named, graph.integers("features", [0, 0, 0, FEATURES]), output="text_embeds")
    graph.output("text_embeds", FLOAT, ["batch", CLASSES + FEATURES])
    return graph.to_bytes()


def text_vector(graph, vectors):
    """Adds the sum of the pieces' vectors, scaled to length 1."""
    ids = graph.input("input_ids", INT64, ["batch", "pieces"])
    mask = graph.input("attention_mask", INT64, ["batch", "pieces"])
    table = graph.constant("pieces", FLOAT16, [len(vectors.pieces.ids), VECTOR], vectors.table)
    rows = graph.node("Cast", graph.node("Gather", table, ids), to=FLOAT)
    mask = graph.node("Unsqueeze", graph.node("Cast", mask, to=FLOAT), graph.integers("last", [2]))
    rows = graph.node("Mul", rows, mask)
    total = graph.node("ReduceSum", rows, graph.integers("of_pieces", [1]), keepdims=0)
    return graph.node("Div", total, graph.node("ReduceL2", total, axes=[1]))
