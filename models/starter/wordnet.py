"""Reads the nouns of WordNet: the words of a synset, and what it is a kind of."""

from build_error import BuildError

# The symbols of pointers to what a synset is a kind of, or an instance of.
HYPERNYMS = ("@", "@i")


class Nouns:
    """Synsets by their ids, which are their positions in the file, such as 01440764."""

    def __init__(self, content):
        self.words, self.hypernyms = {}, {}
        for line in content.decode("ascii").splitlines():
            # The license at the start of the file is indented.
            if not line.startswith(" "):
                self.add(line.split(" | ")[0].split())

    def add(self, fields):
        """Adds a synset. Its fields are id, file, kind and number of words; the words, each with a number; the number
        of pointers; and the pointers, of four fields each."""
        synset, words_end = fields[0], 4 + 2 * int(fields[3], 16)
        self.words[synset] = [word.replace("_", " ") for word in fields[4:words_end:2]]
        pointers = fields[words_end + 1 : words_end + 1 + 4 * int(fields[words_end])]
        kinds = zip(pointers[::4], pointers[1::4])
        self.hypernyms[synset] = [target for kind, target in kinds if kind in HYPERNYMS]

    def with_hypernyms(self, synset):
        """Returns the synset and everything that it is a kind of."""
        found, level = set(), {synset}
        while level:
            unknown = sorted(each for each in level if each not in self.words)
            if unknown:
                raise BuildError(f"WordNet has no noun {unknown[0]}; use version 3.0")
            found |= level
            level = {above for each in level for above in self.hypernyms[each]} - found
        return found
