"""Uses the Python package on a folder. Arguments: the folder."""

import base64
import io
import os
import sys
from pathlib import Path

import tessera_tui as tessera
from PIL import Image

folder = Path(sys.argv[1])
os.chdir(folder.parent)
photos = tessera.open(folder.name)
# A later change of the working directory leads to no other folder.
os.chdir("/")
assert [dataset["n_images"] for dataset in photos.datasets()] == [2]

everything = photos.search(limit=None)
assert sorted(path.name for path in everything.paths()) == ["a.png", "b <i>.png"]
assert len(everything) == 2 and everything[0]["media_id"]

table = photos.search(labels=["boat"]).to_pandas()
assert table["file_name"].tolist() == ["b <i>.png"]
assert len(photos.search(labels="boat")) == 1
assert photos.search(labels=["nothing"]).to_pandas()["file_name"].tolist() == []
assert photos.search(image=folder / "a.png", limit=1)[0]["file_name"] == "a.png"
assert photos.search(vql=[{"labels": {"op": "one_of", "value": ["boat"]}}]).paths() == [folder / "b <i>.png"]

page = everything._repr_html_()
assert page.count("data:image/") == 2 and "b &lt;i&gt;.png" in page and "<i>" not in page

assert photos.report()["labels"] == {"boat": 1}
check = photos.check(require_captions=True, max_duplicates="0%")
assert [each["passed"] for each in check["checks"]] == [True, False]
assert not check["passed"]
photos.run("tag", "add", "train", "val", "--all")
leaks = photos.check(no_leaks=("tag:train", "tag:val"))["checks"]
assert [each["found"] for each in leaks] == [2], leaks
assert len(photos.check(no_leaks=[("tag:train", "tag:val"), ["tag:val", "tag:train"]])["checks"]) == 2

for name in ["one", "two"]:
    assert photos.export(folder.parent / "exports" / name)["file"] is None
    assert (folder.parent / "exports" / name / "metadata.parquet").is_file()
assert sorted(each.name for each in (folder.parent / "exports").iterdir()) == ["one", "two"]

turned = Image.new("RGB", (40, 20))
turned.getexif()[0x0112] = 6
turned.save(folder.parent / "turned.jpg", exif=turned.getexif())
source = tessera._thumbnail({"original_path": folder.parent / "turned.jpg"})
assert Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).size == (20, 40)

try:
    photos.run("query", "check", "--vql", "{")
    raise SystemExit("an invalid query is an error")
except tessera.TesseraError as error:
    assert error.document["code"] and error.result["diagnostics"], error

try:
    photos.search("boat", dataset="nothing")
    raise SystemExit("an unknown dataset is an error")
except tessera.TesseraError as error:
    assert error.exit_code == 5 and error.document["code"], error
try:
    photos.search("boat", image="a.png")
    raise SystemExit("two queries are an error")
except ValueError:
    pass
