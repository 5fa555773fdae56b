"""Checks that all links between the pages of a site lead to files and headings.

usage: check_links.py FOLDER
"""

import re
import sys
from pathlib import Path


def anchors(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page.read_text()))


def main() -> int:
    root = Path(sys.argv[1])
    pages = sorted(root.rglob("*.html"))
    known = {page.resolve(): anchors(page) for page in pages}
    wrong, followed = [], 0
    for page in pages:
        for link in re.findall(r'\b(?:href|src)="([^"]+)"', page.read_text()):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, heading = link.partition("#")
            target = (page.parent / name).resolve() if name else page.resolve()
            followed += 1
            if not target.exists() or (heading and target in known and heading not in known[target]):
                wrong.append(f"{page.relative_to(root)}: {link}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    print(f"{followed} links in {len(pages)} pages, {len(wrong)} of them wrong")
    return 1 if wrong or followed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
