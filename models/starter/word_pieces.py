"""Splits a text into the pieces that have vectors, by byte-pair encoding as a `tokenizer.json` describes it."""

from build_error import BuildError

SPACE = "\u2581"


class WordPieces:
    """The pieces of a vocabulary. A text is converted to lower case and gets a space at its start."""

    def __init__(self, tokenizer):
        model = tokenizer.get("model", {})
        if model.get("type") != "BPE" or tokenizer.get("pre_tokenizer"):
            raise BuildError("the tokenizer is not one of byte pairs without a pre-tokenizer; use another package")
        self.ids = model["vocab"]
        self.ranks = {tuple(pair.split(" ")): rank for rank, pair in enumerate(model["merges"])}

    def ids_of(self, text):
        """Returns the ids of a text's pieces. The neighbors that come first in the list of merges are joined, until no
        pair of neighbors is in the list."""
        pieces = list(SPACE + text.lower().replace(" ", SPACE))
        while len(pieces) > 1:
            pairs = list(zip(pieces, pieces[1:]))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            pieces[at : at + 2] = ["".join(best)]
        unknown = [piece for piece in pieces if piece not in self.ids]
        if unknown:
            raise BuildError(f"the tokenizer has no piece {unknown[0]!r} of {text!r}; use another package")
        return [self.ids[piece] for piece in pieces]


def program_tokenizer(tokenizer):
    """Returns the tokenizer for the program, which converts texts to lower case and adds no token at their start."""
    steps = tokenizer["normalizer"]["normalizers"]
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, *steps]}
    return {**tokenizer, "normalizer": normalizer, "post_processor": None}
