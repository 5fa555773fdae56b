"""Search and judge datasets of images from Python, by the program `tessera`.

    import tessera_tui as tessera

    photos = tessera.open("~/photos")
    photos.search("red van", max_score=0.4)            # thumbnails in a notebook
    photos.search(vql=[{"labels": {"op": "is", "value": ["van"]}}]).to_pandas()
    photos.report()["duplicates"]["groups"]

Each call runs a command of `tessera` with `--json` and returns its document, which `tessera spec` describes. The wheel
contains the program. Without it, the program is the one in `PATH`.
"""

from __future__ import annotations

import base64
import contextlib
import html
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

__all__ = ["Deployment", "Results", "TesseraError", "connect", "open"]

CHECK_FAILED = 11
PARTLY_DONE = 9


class TesseraError(RuntimeError):
    """A command failed. `document` is its error document, and `exit_code` its exit code.

    `result` is the document that the command printed nevertheless, such as the errors that `query check` found.
    """

    def __init__(self, done: subprocess.CompletedProcess[bytes]):
        text = done.stderr.decode(errors="replace").strip()
        self.exit_code = done.returncode
        self.document = _document(text.rpartition("\n")[2])
        self.result = _document(done.stdout)
        message = self.document.get("message") or text or f"tessera ended with {done.returncode}"
        remedy = self.document.get("remedy")
        super().__init__(f"{message} ({remedy})" if remedy else message)


def open(folder: str | os.PathLike[str]) -> Deployment:  # noqa: A001 - the name of the command
    """Opens a folder of this machine. It is indexed by the first call."""
    # The program runs in the working directory of a later call.
    path = Path(folder).expanduser().absolute()
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such folder")
    return Deployment([f"--folder={path}"])


def connect(profile: str | None = None, *, base_url: str | None = None, kind: str = "onprem") -> Deployment:
    """Uses a profile of the settings, or an address. Without either, the default profile is used."""
    if profile is not None:
        return Deployment([f"--profile={profile}"])
    return Deployment([] if base_url is None else [f"--base-url={base_url}", f"--kind={kind}"])


class Deployment:
    """A service, or a folder. `dataset` of a method is the ID or the name of a dataset, if there are several."""

    def __init__(self, options: Sequence[str]):
        self.options = list(options)

    def run(self, *words: str, dataset: str | None = None) -> dict[str, Any]:
        """Runs a command, and returns its document."""
        selected = [*self.options, *([f"--dataset={dataset}"] if dataset else [])]
        command = [program(), "--json", "--no-input", "--quiet", *selected, *words]
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, CHECK_FAILED, PARTLY_DONE):
            raise TesseraError(done)
        if done.stderr:
            sys.stderr.write(done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def datasets(self) -> list[dict[str, Any]]:
        return self.run("dataset", "list")["datasets"]

    def search(
        self,
        text: str | None = None,
        *,
        image: str | os.PathLike[str] | None = None,
        media: str | None = None,
        vql: list[dict[str, Any]] | None = None,
        max_score: float | None = None,
        labels: str | Sequence[str] = (),
        limit: int | None = 100,
        dataset: str | None = None,
    ) -> Results:
        """Searches by words, by the file of a picture, by a media item, or by filters only. The closest come first.

        A media item has at least one of the labels. `limit=None` returns everything that matches.
        """
        queries = {"caption": text, "image": image, "media": media}
        given = [(kind, str(value)) for kind, value in queries.items() if value is not None]
        if len(given) > 1:
            raise ValueError("give one of text, image and media")
        kind, *positional = given[0] if given else ("browse",)
        vql_text = None if vql is None else json.dumps(vql)
        options = _options(label=labels, all=limit is None, limit=limit, vql=vql_text, max_score=max_score)
        return Results(self.run("search", kind, "--flat", *options, "--", *positional, dataset=dataset))

    def report(self, dataset: str | None = None) -> dict[str, Any]:
        """Counts what the dataset contains, its issues, and its near-duplicates."""
        return self.run("report", dataset=dataset)

    def check(self, dataset: str | None = None, *, no_leaks: Sequence[Any] = (), **limits: Any) -> dict[str, Any]:
        """Compares the dataset with limits: `check(max_duplicates="1%", require_captions=True)["passed"]`.

        `no_leaks` is a pair of parts, such as `("train", "val")`, or a list of pairs.
        """
        pairs = [no_leaks] if no_leaks and isinstance(no_leaks[0], str) else no_leaks
        leaks = [word for first, second in pairs for word in ("--no-leaks", first, second)]
        return self.run("check", *leaks, *_options(**limits), dataset=dataset)

    def export(self, folder: str | os.PathLike[str], *options: str, dataset: str | None = None) -> dict[str, Any]:
        """Exports the dataset with its images to a new folder, which `load_dataset` reads.

        The archive is removed, but stays beside the folder after a failure, so that no download is lost.
        """
        target = Path(folder).expanduser()
        target.parent.mkdir(parents=True, exist_ok=True)
        archive = tempfile.mkdtemp(prefix=f"{target.name}-archive-", dir=target.parent)
        words = ["export", "start", "--format=parquet", "--images", f"--download={archive}"]
        try:
            document = self.run(*words, f"--extract={target}", *options, dataset=dataset)
            shutil.rmtree(archive)
        finally:
            # Only an empty folder can be removed like this.
            with contextlib.suppress(OSError):
                os.rmdir(archive)
        return {**document, "file": None}


class Results(Sequence):
    """The media items that a search has found. A notebook shows them as thumbnails."""

    def __init__(self, document: dict[str, Any]):
        self.document = document
        self.rows: list[dict[str, Any]] = document["previews"]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __repr__(self) -> str:
        return f"<{len(self)} media items>"

    def to_pandas(self) -> Any:
        """Returns a table with a row for each media item. pandas has to be installed."""
        import pandas as pd

        if self.rows:
            return pd.DataFrame(self.rows)
        # An empty table has the columns of all fields that a media item can have.
        documents = Deployment([]).run("spec")["documents"]
        schemas = {each["schema"]: each["json_schema"]["properties"] for each in documents}
        return pd.DataFrame(columns=list(schemas[self.document["schema"]]["previews"]["items"]["properties"]))

    def paths(self) -> list[Path]:
        """Returns the files of the media items that are on this machine."""
        return [Path(row["original_path"]) for row in self.rows if row.get("original_path")]

    def _repr_html_(self, shown: int = 60) -> str:
        figures = "".join(_figure(row) for row in self.rows[:shown])
        more = f"<p>… {len(self) - shown} more</p>" if len(self) > shown else ""
        return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{figures}</div>{more}'


def program() -> str:
    """Returns the path of the program: that of this installation, or else the one in PATH."""
    found = shutil.which("tessera", path=sysconfig.get_path("scripts")) or shutil.which("tessera")
    if found is None:
        raise FileNotFoundError("tessera is not installed; run: pip install tessera-tui")
    return found


def _options(**values: Any) -> list[str]:
    """Returns options as words. A flag is true, and a list repeats its option."""
    words = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        values_of_option = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
        given = (each for each in values_of_option if each is not None and each is not False)
        words += [option if each is True else f"{option}={each}" for each in given]
    return words


def _document(text: str | bytes) -> dict[str, Any]:
    """Returns the document in a text, or an empty one."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _figure(row: dict[str, Any]) -> str:
    source = _thumbnail(row)
    picture = f'<img src="{html.escape(source)}" style="max-width:160px;max-height:120px">' if source else ""
    name = html.escape(row.get("file_name") or row.get("media_id") or "")
    return f'<figure style="margin:0;width:160px">{picture}<figcaption style="font-size:11px">{name}</figcaption></figure>'


def _thumbnail(row: dict[str, Any], side: int = 160, largest: int = 200_000) -> str | None:
    """Returns the address of a thumbnail, or the picture itself for a file of this machine."""
    path = row.get("original_path")
    if not path:
        return row.get("media_thumb_uri") or row.get("media_uri")
    try:
        from PIL import Image, ImageOps

        with Image.open(path) as picture:
            picture.thumbnail((side, side))
            jpeg = BytesIO()
            ImageOps.exif_transpose(picture).convert("RGB").save(jpeg, "JPEG", quality=80)
        return "data:image/jpeg;base64," + base64.b64encode(jpeg.getvalue()).decode()
    except (ImportError, OSError):
        # Without Pillow, browsers show small files as they are.
        file = Path(path)
        if not file.is_file() or file.stat().st_size > largest:
            return None
        kind = file.suffix.lower().lstrip(".").replace("jpg", "jpeg")
        return f"data:image/{kind};base64," + base64.b64encode(file.read_bytes()).decode()
