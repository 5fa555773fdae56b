"""Checks the starter model with the program itself: `python3 models/quality.py TESSERA FOLDER [--photographs DIR]`.

The stamps of Tux Paint (Debian's tuxpaint-stamps-default) are pictures with categories, which are their folders, and
with descriptions. They are served as numbered copies without categories and descriptions, so that only the pictures and
the model can find them. A photograph is named after the WordNet id of what it shows, such as
n02099601_golden_retriever.JPEG. The published figures are from 1,000 photographs.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "starter"))

from onnx_file import FLOAT, Graph
from wordnet import Nouns

STAMPS = pathlib.Path("/usr/share/tuxpaint/stamps")
NOUNS = pathlib.Path("/usr/share/wordnet/data.noun")
# In a category with fewer stamps, the most similar stamp is often of another kind.
MIN_OF_CATEGORY = 4
MIN_SAME_CATEGORY = 0.58
MIN_RECIPROCAL_RANK = 0.15
MIN_AVERAGE_PRECISION = 0.9
WORDS = {"dog": "02084071", "bird": "01503061", "vehicle": "04524313", "furniture": "03405725"}
PAGE = 100


class Service:
    """A running `tessera serve` with one dataset."""

    def __init__(self, greeting):
        self.address = f"{greeting['base_url']}/api/v1"
        self.dataset = greeting["datasets"][0]["id"]
        while self.get(f"dataset/{self.dataset}")["status_new"] != "READY":
            time.sleep(0.2)

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.address}/{path}?{urllib.parse.urlencode(query)}") as response:
            return json.load(response)

    def pictures(self, **search):
        """Yields the results of a search page by page, best first. A cluster lists at most nine pictures."""
        query = {"entity_type": "IMAGES", "threshold": 0, **search}
        for page in range(sys.maxsize):
            clusters = self.get(f"explore/{self.dataset}", page_number=page, **query)["clusters"]
            for cluster in clusters:
                yield from cluster["previews"]
            if len(clusters) < PAGE:
                return


@contextlib.contextmanager
def serve(tessera, model, originals):
    """Serves numbered copies. Yields the service, and the original of each copy by name."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "pictures"
        folder.mkdir()
        copies = {f"{number:05}{file.suffix.lower()}": file for number, file in enumerate(originals)}
        for name, file in copies.items():
            shutil.copyfile(file, folder / name)
        command = [tessera, "serve", str(folder), "--no-auth", "--data", f"{temporary}/index", "--model", str(model)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline()
                if not line:
                    sys.exit(f"error: {tessera} serve ended with code {process.wait()}")
                yield Service(json.loads(line)), copies
            finally:
                process.terminate()


def same_category(service, copies):
    """Returns the share of stamps whose most similar other stamp is in the same folder, and the number of stamps."""
    sizes = collections.Counter(file.parent for file in copies.values())
    hits = []
    for picture in list(service.pictures()):
        name = picture["file_name"]
        if sizes[copies[name].parent] >= MIN_OF_CATEGORY:
            found = service.pictures(anchor_type="MEDIA", anchor_media_id=picture["media_id"])
            first = next(other["file_name"] for other in found if other["file_name"] != name)
            hits.append(copies[first].parent == copies[name].parent)
    return sum(hits) / len(hits), len(hits)


def reciprocal_rank(service, copies):
    """Returns the mean of 1 / rank of a stamp in the results for its description, and the number of stamps. A stamp
    that is not listed counts as 0."""
    ranks = []
    for name, file in copies.items():
        if file.with_suffix(".txt").exists():
            description = file.with_suffix(".txt").read_text(encoding="utf-8").splitlines()[0].strip()
            found = enumerate(service.pictures(caption=description), 1)
            ranks.append(next((1 / rank for rank, other in found if other["file_name"] == name), 0))
    return sum(ranks) / len(ranks), len(ranks)


def average_precision(found):
    """Returns the average precision of results, best first. Each result is right or not."""
    precisions = [sum(found[:rank]) / rank for rank, right in enumerate(found, 1) if right]
    return sum(precisions) / len(precisions)


def check_stamps(report, tessera, model):
    stamps = sorted(STAMPS.rglob("*.png"))
    if not stamps:
        sys.exit(f"error: there are no stamps in {STAMPS}; install tuxpaint-stamps-default")
    with serve(tessera, model, stamps) as (service, copies):
        share, count = same_category(service, copies)
        report(f"the most similar stamp is of the same category ({count} stamps)", share, MIN_SAME_CATEGORY)
        rank, count = reciprocal_rank(service, copies)
        report(f"mean reciprocal rank of {count} stamps for their descriptions", rank, MIN_RECIPROCAL_RANK)


def check_photographs(report, tessera, model, folder):
    nouns = Nouns(NOUNS.read_bytes())
    with serve(tessera, model, sorted(folder.glob("n[0-9]*.JPEG"))) as (service, copies):
        for word, synset in WORDS.items():
            found = [copies[picture["file_name"]] for picture in service.pictures(caption=word)]
            right = [synset in nouns.with_hypernyms(file.name[1:9]) for file in found]
            count = f"{sum(right)} of {len(right)} photographs"
            report(f'average precision of "{word}", {count}', average_precision(right), MIN_AVERAGE_PRECISION)


def check_refusals(report, tessera, model):
    """Checks that damaged folders are refused with the name of what is wrong."""
    graph = Graph("unsupported")
    graph.node("Unknown", graph.input("pixel_values", FLOAT, [1, 3, 8, 8]), output="image_embeds")
    graph.output("image_embeds", FLOAT, [1, 8])
    cases = [
        ("tokenizer.json", None, "tokenizer.json is missing"),
        ("tokenizer.json", b"{}", "is not a usable tokenizer"),
        ("onnx/vision_model.onnx", None, "onnx/vision_model.onnx"),
        ("onnx/vision_model.onnx", graph.to_bytes(), "Unknown"),
        ("onnx/text_model.onnx", (model / "onnx/text_model.onnx").read_bytes()[:1000], "is not a usable ONNX model"),
    ]
    for path, content, words in cases:
        with tempfile.TemporaryDirectory() as temporary:
            copy = pathlib.Path(temporary) / "model"
            shutil.copytree(model, copy)
            (copy / path).unlink()
            if content is not None:
                (copy / path).write_bytes(content)
            done = subprocess.run([tessera, "model", "check", copy], capture_output=True, text=True, check=False)
            refused = done.returncode == 2 and words in done.stderr
            change = "without" if content is None else "with a damaged"
            report(f'a folder {change} {path} is refused ("{words}")', float(refused), 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tessera", help="the program")
    parser.add_argument("model", type=pathlib.Path, help="the folder of the model")
    parser.add_argument("--photographs", type=pathlib.Path, metavar="DIR", help="a folder of photographs, named by WordNet")
    options = parser.parse_args()
    failed = []

    def report(what, found, least):
        print(f"{'ok' if found >= least else 'FAILED'}: {what}: {found:.3f} (at least {least:g})", flush=True)
        if found < least:
            failed.append(what)

    check_refusals(report, options.tessera, options.model)
    check_stamps(report, options.tessera, options.model)
    if options.photographs:
        check_photographs(report, options.tessera, options.model, options.photographs)
    sys.exit(f"error: {len(failed)} of the checks failed" if failed else 0)


if __name__ == "__main__":
    main()
