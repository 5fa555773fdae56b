#!/usr/bin/env python3
"""Writes the table of hypernyms of the 1,000 ImageNet classes.

tools/hypernyms.py IDS [WORDNET] > crates/encoder/assets/wordnet/hypernyms.txt

IDS      a file with the ids of the classes, such as n01440764, one a line. The lines of the table without a line
         below them have the same ids. timm has them as timm/data/_info/imagenet_synsets.txt.
WORDNET  the folder with data.noun, index.noun and cntlist.rev of WordNet 3.0; Debian's wordnet-base has them in
         /usr/share/wordnet, the default.

A line is the id and the name of a synset. It is a kind of the synset above it with one tab less; a synset with several
hypernyms has several lines, of which the first has what is below it.
"""

import collections
import re
import sys

# A hypernym of this many classes is not a label, because almost everything is a kind of it: entity, whole, artifact.
MOST_CLASSES = 400
# These words say what things are for or made of, but not how they look. A container is a box as well as a car.
NOT_VISIBLE = """instrumentality device container covering matter solid substance liquid fluid equipment implement
instrument mechanism restraint barrier part causal_agent abstraction communication protective_covering
mechanical_device support association relation natural_object commodity conveyance agent drug participant associate
peer attribute state group collection social_group structure obstruction consumer_goods material
electronic_equipment construction durables plant_part plant_organ reproductive_structure fastener nutriment
foodstuff produce course signal writing written_communication document connection location area institution work fare shape
surface design concoction measure landing ride""".split()
# Several synsets have these words with the same meaning. Bananas are one kind of food, and pizzas are another.
SAME_MEANING = ["food"]
# If hypernyms share more than this part of their classes, only the one with the most frequent word is kept. For
# example, dog is kept of canine, dog and domestic animal, and mammal is kept of placental and mammal.
MOSTLY_SAME = 0.7


def read_nouns(folder):
    words, hypernyms = {}, {}
    for line in open(folder + "/data.noun"):
        if line.startswith("  "):
            continue
        fields = line.split(" | ")[0].split()
        synset, count = fields[0], int(fields[3], 16)
        words[synset] = [re.sub(r"\(.*\)", "", word) for word in fields[4 : 4 + 2 * count : 2]]
        pointers = fields[5 + 2 * count :]
        kinds = range(0, 4 * int(fields[4 + 2 * count]), 4)
        hypernyms[synset] = [pointers[at + 1] for at in kinds if pointers[at] in ("@", "@i")]
    return words, hypernyms


def read_uses(folder):
    """Returns how often each word was used for a synset in the texts that the authors of WordNet tagged."""
    senses = {}
    for line in open(folder + "/index.noun"):
        if not line.startswith("  "):
            fields = line.split()
            senses[fields[0]] = fields[-int(fields[2]) :]
    uses = collections.Counter()
    for line in open(folder + "/cntlist.rev"):
        key, sense, count = line.split()
        word, kind = key.split("%")
        # A few counts are for senses that version 3.0 no longer has.
        if kind.startswith("1:") and int(sense) <= len(senses.get(word, [])):
            uses[senses[word][int(sense) - 1]] += int(count)
    return uses


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else "/usr/share/wordnet"
    words, hypernyms = read_nouns(folder)
    uses = read_uses(folder)
    classes = sorted(line.strip()[1:] for line in open(sys.argv[1]) if line.strip())

    def above(synset):
        found = []
        for hypernym in hypernyms[synset]:
            found += [hypernym, *above(hypernym)]
        return set(found)

    of_classes = collections.defaultdict(set)
    for synset in classes:
        for hypernym in above(synset):
            of_classes[hypernym].add(synset)

    def is_label(synset, kept):
        own, word = of_classes[synset], words[synset][0]
        # A hypernym of a single class is a label only if its word is in common use, as horse is for sorrel.
        if len(own) >= MOST_CLASSES or word in NOT_VISIBLE or (len(own) == 1 and not uses[synset]):
            return False
        shares = (len(own & of_classes[other]) / len(own | of_classes[other]) for other in kept)
        return all(share < MOSTLY_SAME for share in shares)

    kept = []
    for synset in sorted(of_classes, key=lambda synset: (-uses[synset], -len(of_classes[synset]), synset)):
        if is_label(synset, kept):
            kept.append(synset)

    # If several hypernyms have the same word, the one with the most classes gets it. The others get another word if
    # they have one.
    names = {synset: words[synset][0] for synset in classes}
    taken = set()
    for synset in sorted(kept, key=lambda synset: (-len(of_classes[synset]), synset)):
        free = [word for word in words[synset] if word not in taken or word in SAME_MEANING]
        names[synset] = (free or words[synset])[0]
        taken.add(names[synset])

    def parents(synset):
        """Returns the nearest hypernyms that are kept."""
        found = set()
        for hypernym in hypernyms[synset]:
            found |= {hypernym} if hypernym in names else parents(hypernym)
        return found - {further for nearer in found for further in above(nearer)}

    below = collections.defaultdict(list)
    for synset in names:
        for parent in parents(synset) or {None}:
            below[parent].append(synset)

    written = set()

    def write(synset, depth):
        print("\t" * depth + "n" + synset + " " + names[synset].replace("_", " "))
        if synset not in written:
            written.add(synset)
            for lower in sorted(below[synset]):
                write(lower, depth + 1)

    for synset in sorted(below[None]):
        write(synset, 0)


main()
