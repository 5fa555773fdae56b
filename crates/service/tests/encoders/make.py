"""Creates the tiny test encoders in this folder: they recognize three colors and nothing else.

Needs `pip install onnx numpy`. Run it in this folder after changing it.
"""

import json

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

WORDS = ["red", "green", "blue", "picture"]
DIRECTIONS = [(1, -1, -1), (-1, 1, -1), (-1, -1, 1)]


def letters():
    """The characters that byte-level tokenizers write bytes as."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + at) for at in range(len(others))]


def merged(parts, pair):
    """The parts of a word with every such pair made one."""
    at = 0
    while at + 1 < len(parts):
        if (parts[at], parts[at + 1]) == pair:
            parts[at : at + 2] = ["".join(pair)]
        at += 1
    return parts


def clip_tokenizer():
    """Byte pairs as CLIP has them: every word above is one token in the end."""
    vocabulary = letters() + [letter + "</w>" for letter in letters()]
    merges = []
    for word in WORDS:
        parts = [*word[:-1], word[-1] + "</w>"]
        for pair in merges:
            parts = merged(parts, pair)
        while len(parts) > 1:
            merges.append((parts[0], parts[1]))
            vocabulary.append(parts[0] + parts[1])
            parts = merged(parts, merges[-1])
    vocabulary += ["<|startoftext|>", "<|endoftext|>"]
    ids = {token: at for at, token in enumerate(vocabulary)}
    ends = ["<|startoftext|>", "<|endoftext|>"]
    split = {"Regex": r"<\|startoftext\|>|<\|endoftext\|>|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"}
    return ids, {
        "added_tokens": [{"id": ids[token], "content": token} for token in ends],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": split, "behavior": "Removed", "invert": True},
                {"type": "ByteLevel", "add_prefix_space": False},
            ],
        },
        "post_processor": {
            "type": "RobertaProcessing",
            "cls": [ends[0], ids[ends[0]]],
            "sep": [ends[1], ids[ends[1]]],
        },
        "model": {"type": "BPE", "end_of_word_suffix": "</w>", "vocab": ids, "merges": [" ".join(pair) for pair in merges]},
    }


def bert_tokenizer():
    ids = {token: at for at, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    return ids, {
        "normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": None},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "truncation": {"max_length": 6},
        "padding": {"pad_id": 0, "strategy": "BatchLongest"},
        "model": {"type": "WordPiece", "vocab": ids},
    }


def table(ids, width, ends):
    """One row a token: colours point somewhere, everything else nowhere."""
    rows = np.zeros((len(ids), width), np.float32)
    for word, direction in zip(WORDS, DIRECTIONS):
        rows[ids[word + ends], :3] = direction
    return rows


def model(name, inputs, output, nodes, tensors):
    tensors = [numpy_helper.from_array(array, name) for name, array in tensors.items()]
    graph = helper.make_graph(nodes, "encoder", inputs, [output], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made, full_check=True)
    save(made, name)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def image(name):
    """The mean colour, and one number that is always 0."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["pixel_values"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["image_embeds"]),
    ]
    weights = {"weights": np.eye(3, 4, dtype=np.float32)}
    pixels = value("pixel_values", ["batch", 3, 8, 8])
    model(name, [pixels], value("image_embeds", ["batch", 4]), nodes, weights)


def clip_text(name, ids):
    """The sum of the directions of those of 8 tokens that the mask leaves."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["floats", "last"], ["mask"]),
        helper.make_node("Mul", ["rows", "mask"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "middle"], ["sum"], keepdims=0),
        helper.make_node("Add", ["sum", "bias"], ["text_embeds"]),
    ]
    tensors = {
        "table": table(ids, 4, "</w>"),
        "last": np.array([2]),
        "middle": np.array([1]),
        "bias": np.array([0, 0, 0, 0.05], np.float32),
    }
    inputs = [value(name, ["batch", 8], TensorProto.INT64) for name in ("input_ids", "attention_mask")]
    model(name, inputs, value("text_embeds", ["batch", 4]), nodes, tensors)


def bert_text(name, ids, width):
    """The same with any number of tokens, without a mask, and with 32-bit tokens."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
        helper.make_node("ReduceSum", ["last_hidden_state", "middle"], ["sum"], keepdims=0),
        helper.make_node("Add", ["sum", "bias"], ["pooled"]),
    ]
    bias = np.zeros(width, np.float32)
    bias[3] = 0.05
    tensors = {"table": table(ids, width, ""), "middle": np.array([1]), "bias": bias}
    tokens = value("input_ids", ["batch", "length"], TensorProto.INT32)
    model(name, [tokens], value("pooled", ["batch", width]), nodes, tensors)


def write(name, tokenizer):
    with open(name, "w") as file:
        json.dump(tokenizer, file, ensure_ascii=False, separators=(",", ":"))


clip, tokenizer = clip_tokenizer()
write("clip.json", tokenizer)
bert, tokenizer = bert_tokenizer()
write("bert.json", tokenizer)
image("image.onnx")
clip_text("clip-text.onnx", clip)
bert_text("bert-text.onnx", bert, 4)
bert_text("wide-text.onnx", bert, 5)
