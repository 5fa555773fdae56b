"""Uses the Python package on a folder. Arguments: the folder."""

import sys
from pathlib import Path

import tessera_tui as tessera

folder = Path(sys.argv[1])
photos = tessera.open(folder)
assert [dataset["n_images"] for dataset in photos.datasets()] == [2]

everything = photos.search(limit=None)
assert sorted(path.name for path in everything.paths()) == ["a.png", "b <i>.png"]
assert len(everything) == 2 and everything[0]["media_id"]

table = photos.search(labels=["boat"]).to_pandas()
assert table["file_name"].tolist() == ["b <i>.png"]
assert photos.search(image=folder / "a.png", limit=1)[0]["file_name"] == "a.png"
assert photos.search(vql=[{"labels": {"op": "one_of", "value": ["boat"]}}]).paths() == [folder / "b <i>.png"]

page = everything._repr_html_()
assert page.count("data:image/") == 2 and "b &lt;i&gt;.png" in page and "<i>" not in page

assert photos.report()["labels"] == {"boat": 1}
check = photos.check(require_captions=True, max_duplicates="0%")
assert [each["passed"] for each in check["checks"]] == [True, False]
assert not check["passed"]

photos.export(folder.parent / "exported")
assert (folder.parent / "exported" / "metadata.parquet").is_file()

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
