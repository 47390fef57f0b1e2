"""The words of the generated English: frequent ones by hand, a long tail built from morphemes.

Each open class is a ranked list; ranks become Zipf weights. A share of each class goes to a tail of
words that are put together from real stems and suffixes, so that a sample of any size leaves words
unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from syntagma.corpora.generated.english_inflection import inflected, plural
from syntagma.corpora.generated.english_rules import weights

# the share of each open class that goes to its tail
TAIL_SHARE = {"NN": 0.14, "NNP": 0.2, "JJ": 0.1, "RB": 0.1, "V": 0.05}

NOUNS = {
    "person": "minister lawyer guard cook doctor teacher guide coach manager officer director "
    "judge leader host rival farmer worker engineer visitor player driver writer neighbor nurse "
    "reporter student tenant banker singer painter critic candidate",
    "group": "company government committee bank party council union court team agency ministry "
    "school firm club board army church orchestra jury cabinet crew staff family",
    "place": "city country market town house park village street harbor station hotel airport "
    "office factory hospital bridge island valley museum border kitchen garden river",
    "thing": "book car ship house letter tax machine picture order door copy price bill computer "
    "engine ticket table clock piano coat lamp bicycle share bond phone map key",
    "food": "soup fish cake apple sandwich pie drink egg potato salad cheese orange steak onion "
    "lemon taste omelette bean pancake stew sausage cookie curry tomato",
    "idea": "plan report change claim deal offer vote attack design promise strike price visit "
    "increase rise call review return move fall search question answer demand support drop rate "
    "law budget decision reform debate project theory cost profit loss risk policy campaign",
    "time": "week month year summer winter night season weekend quarter spring fall",
}
ADJECTIVES = {
    "person": "old young tired famous rich angry honest former happy nervous polite local brave "
    "foreign patient calm proud retired busy kind secret lazy",
    "group": "large private national public small local foreign powerful independent federal "
    "divided cautious open nervous rich regional royal new",
    "place": "small quiet northern crowded old clean empty beautiful busy remote southern open "
    "foreign dark wet cool dry pleasant coastal industrial new",
    "thing": "new old used broken clean light open expensive cheap red heavy black wooden locked "
    "electric green painted blue rusty foreign modern round fast",
    "food": "fresh hot cold sweet fried cheap dry salty warm delicious cooked green raw burnt "
    "sour rich light baked heavy spicy tender bitter",
    "idea": "new important hard good popular early serious late public secret open bad final "
    "clear likely fast expensive careful legal planned fair strange proposed",
    "time": "long last previous cold early difficult hot dry quiet busy late second",
    "last": "last",
}
ADVERBS = {
    "manner": "quickly slowly quietly often suddenly carefully finally easily always openly "
    "politely again never still badly",
    "after": "hard early quickly late slowly fast quietly again badly well together suddenly",
    "sentence": "however meanwhile recently unfortunately now then perhaps later officially "
    "apparently soon usually",
    "degree": "very too rather quite so extremely surprisingly",
    "not": "not",
}
VERBS = {
    "walk": "go walk travel run drive return move march fly sail rush ride hurry retreat ski",
    "rise": "rise fall change grow increase drop climb fail continue end improve slip vanish",
    "eat": "cook eat order taste share buy serve prepare smell bake fry sell boil fish",
    "make": "make plan sell change design build buy repair finance support review claim clean "
    "discuss open find lose present produce move price reject book copy inspect empty paint tax",
    "meet": "meet visit help call attack see watch question ask host support guard guide blame "
    "coach sue thank invite praise follow answer arrest",
    "say": "say report claim think believe know hope answer announce argue hear fear learn "
    "doubt suggest warn forget conclude admit promise",
    "want": "want plan hope try promise refuse offer vote decide expect demand learn need agree "
    "begin prefer manage move",
    "give": "give offer sell show send promise hand lend bring pay teach owe deny",
    "be": "be",
    "have": "have",
    "do": "do",
}
_PREFIXES = {
    "walk": "out over",
    "rise": "re over",
    "eat": "re over pre under",
    "make": "re pre mis over co",
    "meet": "re pre",
    "say": "re counter",
    "want": "",
    "give": "re over under pre",
    "be": "",
    "have": "",
    "do": "",
}
_SURNAME = "Hart Mill Ash Wood Brad Pres Whit Carl Black Thorn Lang Stan Har Win Kings Ell Clay"
_SURNAME += " Nor Wes Hol Brom Farn Rad Shel Tham Cal Den Gar Hun Lam Mar Ped Rus Sut Tur Wal"
_PLACE_END = "ton ville burg ford field port mouth stead chester bridge haven wick dale minster"
_PERSON_END = "son man ley well worth ridge berg er sby wright croft by den ingham"

NAMES = {
    "first": "Mary John Anna Peter Laura David Helen Paul Ruth Martin Clara Simon Alice Robert "
    "Irene Victor Judith Samuel Nora Hugo Vera Oscar Edith Conrad Doris Felix",
    "last": "Smith Brown Miller Garcia Young Baker Wood Cook Fisher Lee Novak King Weber Rossi "
    "Silva Park Hill Banks May March Stone Cruz Marsh",
    "title": "Mr. Mrs. Dr. President Judge Sen. Gov. Captain",
    "place": "London Paris Chicago Berlin Washington Mexico Norway Japan Brazil Texas Lisbon Cairo "
    "Canada Geneva Boston Kenya Hartford Oxford Ohio Malta",
    "group": "Parliament Congress IBM Reuters NATO Unilever Interpol Greenpeace Boeing Nestlé "
    "Shell Ford Siemens Toyota Apple Orange",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "month": "January February March April May June July August September October November "
    "December",
}
PREPOSITIONS = {
    "of": "of 1",
    "loc": "in 12 near 3 outside 2 around 1",
    "dir": "from 3 through 2 into 4 toward 3 across 2 past 1",
    "with": "with 1",
    "topped": "with 5 without 3",
    "about": "about 5 on 3 against 3 over 1",
    "for": "for 6 against 1",
    "from": "from 6 in 3 near 1",
    "by": "by 1",
    "during": "during 4 before 2 after 3 since 2 until 1",
    "day": "on 6 before 1 since 1 until 1",
    "month": "in 9 since 2 before 1 until 1",
    "that": "that 1",
    "sub": "because 5 after 4 before 3 although 3 while 3 if 2 since 2 unless 1 until 1 as 2",
}
_SMALL = "two three four five six seven eight nine ten twelve twenty"
_PRONOUNS = {
    ("sg", True, "nom"): "he/he 6 she/she 5",
    ("sg", True, "acc"): "him/he 5 her/she 4",
    ("pl", True, "nom"): "they/they 6 we/we 4 you/you 2",
    ("pl", True, "acc"): "them/they 6 us/we 3 you/you 1",
    ("sg", False, "nom"): "it/it 1",
    ("sg", False, "acc"): "it/it 1",
    ("pl", False, "nom"): "they/they 1",
    ("pl", False, "acc"): "them/they 1",
}
_CLOSED = {
    "DT sg": "the 10 a 6 this 1 that .7 every .5 another .4 each .2 no .3",
    "DT pl": "the 10 some 2 these/this 1 those/that .7 all .6 no .3",
    "DT this": "this 1",
    "DT indef": "a 8 another 1",
    "DT pro": "this 2 that 3",
    "PRP$": "his/he 5 her/she 4 their/they 4 its/it 3 our/we 2 your/you 1",
    "CC clauses": "and 4 but 5 so 1",
    "CC phrases": "and 6 or 2",
    "TO": "to 1",
    "MD": "will 5 would 3 can 3 could 3 may 2 might 1 must 1 should 2",
    "WP": "who 1",
    "WDT": "that 3 which 2",
    "WRB": "when 3 why 4 where 3 how 3",
    "UH": "yes 4 no 3 well 3 oh 1",
    "POS sg": "'s 1",
    "POS pl": "' 1",
    ",": ", 1",
    "``": '" 1',
    "''": '" 1',
    ". stop": ". 60 ! 1",
    ". ask": "? 1",
}
_UPOS = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "JJ": "ADJ", "RB": "ADV", "DT": "DET",
    "PRP": "PRON", "PRP$": "PRON", "CC": "CCONJ", "TO": "PART", "MD": "AUX", "WP": "PRON",
    "WDT": "PRON", "WRB": "ADV", "UH": "INTJ", "POS": "PART", "CD": "NUM", "IN": "ADP",
}  # fmt: skip


def _shuffled(words: list[str], name: str) -> list[str]:
    """Put a tail in an order that is fixed and owes nothing to how it was built."""
    seed = int.from_bytes(name.encode(), "little") % 2**32
    distinct = list(dict.fromkeys(words))
    order = np.argsort(np.random.default_rng(seed).random(len(distinct)))
    return [distinct[i] for i in order.tolist()]


def _names(ends: str) -> list[str]:
    return [stem + end for stem in _SURNAME.split() for end in ends.split() if stem[-1] != end[0]]


_NOUN_PARTS = {
    "person": (
        "plumb paint hunt drumm interpret swindl:er conduct collect instruct:or "
        "novel violin organ journal art tour cycl lobby guitar pian moral biolog geolog:ist",
        "ex- vice- co- fellow- deputy- junior- master- ",
    ),
    "group": (
        "board: union: council: office: league: bureau: guild: club: alliance: trust:",
        "trade- steel- grain- youth- press- water- health- rail- wheat- traffic- sports- arts- "
        "fruit- cotton- timber- opera- peace- ",
    ),
    "place": (
        "yard: side: field: house: way: bank: land:",
        "water wind stone snow sand rail oil corn mill wood church farm market north south ",
    ),
    "thing": (
        "wheel: board: pot: bell: box: pipe: case: hook: lamp: cart: rack:",
        "water wind stone fire snow sand rain hand oil steel corn milk wood iron paper silver ",
    ),
    "food": (
        "cake: pie: roll: loaf: tart: pudding: dumpling: bun:",
        "almond- plum- barley- pumpkin- carrot- ginger- oat- rye- nut- honey- mint- pear- cherry- "
        "walnut- chestnut- mushroom- leek- ",
    ),
    "idea": (
        "regul specul negoti invit confront celebr consult transl confisc estim alloc:ation "
        "adjust amend invest commit govern appoint settle agree assess employ:ment "
        "author prior major minor popular legal:ity",
        "re counter over mis pre self- non- ",
    ),
}
_ADJECTIVE_PARTS = {
    "person": "thought rest doubt help fear care grace power truth skill law shame hope:ful "
    "rest help fear power law shame hope friend:less",
    "group": "region coast nation profession continent:al trade rail youth press profit:-minded",
    "place": "rock leaf sand hill dust rain wind swamp snow:y rock sand dust wind snow:-bound",
    "thing": "paint varnish polish dent scratch label patent lock mark fold crack:ed "
    "mark lock fold polish wash:able",
    "food": "butter pepper sugar cream crust smok:y butter pepper garlic mint:-flavored",
    "idea": "option region sensation exception tradition proportion:al reason work avoid:able",
    "time": "rain wind snow storm:y rain wind snow:less",
}


def _derived(parts: str, prefixes: str = "") -> list[str]:
    """Read ``"paint hunt:er art:ist"``: painter, hunter, artist; then each with each prefix."""
    words = []
    stems: list[str] = []
    for item in parts.split():
        stem, colon, suffix = item.partition(":")
        stems.append(stem)
        if colon:
            words += [stem + suffix for stem in stems]
            stems = []
    return words + [prefix + word for word in words for prefix in prefixes.split()]


@cache
def ranked(tag: str, value: str) -> tuple[tuple[str, ...], int]:
    """Return the words of an open class, commonest first, and how many of them are by hand."""
    tables = {"V": VERBS, "NNP": NAMES, "RB": ADVERBS, "JJ": ADJECTIVES, "NN": NOUNS}
    head = tables[tag][value].split()
    tail: list[str] = []
    if tag == "V":
        tail = _verb_tail(value)
    elif tag == "NNP":
        ends = {"last": _PERSON_END, "place": _PLACE_END, "group": "corp tech soft bank air oil"}
        tail = _names(ends[value]) if value in ends else []
    elif tag == "RB":
        tail = [word + "ly" for word in _derived(_ADJECTIVE_PARTS["person"])]
        tail = tail if value in ("manner", "after") else []
    elif tag == "JJ":
        tail = _derived(_ADJECTIVE_PARTS.get(value, ""))
    elif value in _NOUN_PARTS:
        tail = _derived(*_NOUN_PARTS[value])
    tail = [word for word in _shuffled(tail, tag + value) if word not in head]
    return (*head, *tail), len(head)


def _verb_tail(value: str) -> list[str]:
    """Prefixed verbs of the class, such as "rebuild" or "outsell"."""
    return [
        prefix + verb
        for verb in VERBS[value].split()
        for prefix in _PREFIXES[value].split()
        if prefix[-1] != verb[0] and not verb.startswith(prefix)
    ]


def zipf(tag: str, words: tuple[str, ...], head: int) -> list[float]:
    """Weights that fall with rank; those beyond ``head`` share `TAIL_SHARE` of the whole."""
    weight = 1.0 / (np.arange(len(words)) + 2.0)
    if head < len(words):
        # beyond the common words the curve is flat: which of them a text uses is chance
        weight[head:] = 1.0 / (np.arange(len(words) - head) + 60.0)
        weight[:head] *= (1 - TAIL_SHARE[tag]) / weight[:head].sum()
        weight[head:] *= TAIL_SHARE[tag] / weight[head:].sum()
    return list(weight.tolist())


def _closed(text: str) -> dict[tuple[str, str], float]:
    """Read ``"these/this 1 all .6"``: words, with their lemma where it differs."""
    return {
        (word.split("/")[0], word.split("/")[-1]): weight for word, weight in weights(text).items()
    }


def _numbers(kind: str) -> dict[tuple[str, str], float]:
    """Small numbers in letters, others in digits; years lean to the recent."""
    if kind == "year":
        return {(str(year), str(year)): 1.0 / (2030 - year) for year in range(1950, 2026)}
    numbers = _SMALL.split()
    numbers += [f"{number:,}" for number in (*range(11, 100, 3), *range(150, 3000, 50))]
    return {(word, word): 1.0 / (rank + 1) for rank, word in enumerate(numbers)}


def lexicon(tag: str, state: Mapping[str, str]) -> tuple[dict[tuple[str, str], float], str]:
    """Return the words of a tag in a state, each (word, lemma) weighted, and its universal tag."""
    upos = _UPOS.get(tag, "PUNCT")
    if tag in ("NN", "NNS", "NNP", "JJ", "RB"):
        value = next(iter(state.values()))
        if value in ("yesterday", "today"):
            return _closed(value + " 1"), upos
        noun_or_other = tag.replace("NNS", "NN")
        words, head = ranked(noun_or_other, value)
        form = plural if tag == "NNS" else str
        upos = "PART" if value == "not" else upos
        entries: dict[tuple[str, str], float] = {}
        for word, weight in zip(words, zipf(noun_or_other, words, head), strict=True):
            entries[form(word), word] = weight
        return entries, upos
    if tag.startswith("VB"):
        return _verbs(tag, state)
    if tag == "IN":
        return _closed(PREPOSITIONS[state["role"]]), (
            "SCONJ" if state["role"] in ("that", "sub") else "ADP"
        )
    if tag == "CD":
        return _numbers(state["cd"]), upos
    if tag == "PRP":
        return _closed(_PRONOUNS[state["num"], state["kind"] == "person", state["case"]]), upos
    if tag == "DT":
        key = state["num"] if state["det"] == "def" else state["det"]
        return _closed(_CLOSED["DT " + key]), "PRON" if key == "pro" else upos
    if tag == "TO":
        return _closed(_CLOSED[tag]), "PART" if state["role"] == "inf" else "ADP"
    return _closed(_CLOSED[" ".join([tag, *state.values()])]), upos


def _verbs(tag: str, state: Mapping[str, str]) -> tuple[dict[tuple[str, str], float], str]:
    """Inflect the verbs of a class; only "be" tells numbers apart in the past."""
    kind = state["verb"]
    words, head = ranked("V", kind)
    entries = {
        (inflected(word, tag), word): weight
        for word, weight in zip(words, zipf("V", words, head), strict=True)
    }
    if kind == "be":
        plural_past = state.get("form") == "past_pl"
        word = {"VBD": "were" if plural_past else "was", "VBP": "are"}.get(tag)
        entries = {(word or inflected("be", tag), "be"): 1.0}
    return entries, "AUX" if kind in ("be", "have", "do") else "VERB"
