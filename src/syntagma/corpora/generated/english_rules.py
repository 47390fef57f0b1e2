"""The rules of the generated English, and which meanings go with which.

The semantics live in two features: the ``kind`` of a noun (person, group, place, ...) and the
``verb`` class of a clause, which decides its subjects, objects and prepositional phrases.
``V`` stands for a verb tag in every form a lexical verb takes, ``F`` for the finite ones.
"""
# ruff: noqa: E501 - a rule is one line

from __future__ import annotations

import re

from syntagma.corpora.generated.language import Weights

KINDS = ["person", "group", "place", "thing", "food", "idea", "time", "day", "month"]
DYNAMIC = ["walk", "rise", "eat", "make", "meet", "give"]
STATIVE = ["say", "want"]
COPULAR = ["be_person", "be_group", "be_place", "be_thing", "be_food", "be_idea"]
PASSIVE = ["built", "arrested"]
CLAUSES = DYNAMIC + STATIVE + COPULAR + PASSIVE
AUXILIARIES = ["be", "have", "do"]
FINITE = ["past_sg", "past_pl", "pres_sg", "pres_pl"]
COMPOUND = ["had", "has", "have", "was", "were", "is", "are"]
ROLES = ["of", "loc", "dir", "with", "topped", "about", "for", "from", "by", "to", "during"]
ROLES += ["day", "month"]

FEATURES: dict[str, dict[str, list[str]]] = {
    "S": {"form": [*FINITE, "to"], "verb": CLAUSES},
    "SQ": {"num": ["sg", "pl"], "verb": CLAUSES},
    "SBAR": {"type": ["that", "sub", "rel"], "num": ["sg", "pl"], "kind": KINDS},
    "VP": {"form": [*FINITE, "base", "part", "ger", "pass", "to", *COMPOUND], "verb": CLAUSES},
    "NP": {
        "num": ["sg", "pl"],
        "kind": KINDS,
        "case": ["nom", "acc", "gen", "bare", "core", "pred"],
    },
    "NP-TMP": {"when": ["past", "present"]},
    "PP": {"role": ROLES},
    "ADJP": {"kind": KINDS},
    "ADVP": {"adv": ["manner", "after", "sentence"]},
    "WHNP": {"kind": KINDS},
    "DT": {"num": ["sg", "pl"], "det": ["def", "pro", "this", "indef"]},
    "NN": {"kind": [*KINDS, "yesterday", "today"]},
    "NNS": {"kind": KINDS},
    "NNP": {"name": ["first", "last", "title", "place", "group", "day", "month"]},
    "POS": {"num": ["sg", "pl"]},
    "PRP": {"num": ["sg", "pl"], "kind": KINDS, "case": ["nom", "acc"]},
    "JJ": {"kind": [*KINDS, "last"]},
    "CD": {"cd": ["count", "year"]},
    "RB": {"adv": ["manner", "after", "sentence", "degree", "not"]},
    "IN": {"role": [*ROLES, "that", "sub"]},
    "TO": {"role": ["to", "inf"]},
    "CC": {"joins": ["clauses", "phrases"]},
    "VBD": {"form": ["past_sg", "past_pl"], "verb": [*CLAUSES, *AUXILIARIES]},
    **{tag: {"verb": [*CLAUSES, *AUXILIARIES]} for tag in ("VBZ", "VBP", "VB", "VBN", "VBG")},
    ".": {"end": ["stop", "ask"]},
}


def weights(text: str) -> Weights:
    """Read ``"a 3 b 1"``."""
    items = text.split()
    return dict(zip(items[::2], map(float, items[1::2]), strict=True))


PRIORS: dict[str, Weights] = {
    "num": weights("sg 7 pl 4"),
    "form": weights("past_sg 6 past_pl 3 pres_sg 3 pres_pl 2"),
    "verb": weights(
        "walk 3 rise 3 eat 2.5 make 4 meet 4 say 2.5 want 2 give 2.5 built 2 arrested 1 "
        "be_person 1.2 be_group .6 be_place .6 be_thing .8 be_food .8 be_idea 1.2"
    ),
    "kind": weights("person 5 group 3 place 2 thing 3 food 2 idea 3"),
    "name": weights("first 3 title 1"),
    "det": weights("def 1"),
    "role": weights("loc 4 day 3 month 3 during 2"),
    "when": weights("past 3 present 1"),
    "case": weights("nom 1"),
}

TABLES: dict[str, tuple[str, dict[str, Weights]]] = {
    "subject": (
        "verb",
        {
            "walk": weights("person 8 group 1"),
            "rise": weights("idea 6 thing 2"),
            "eat": weights("person 1"),
            "make": weights("group 5 person 4"),
            "meet": weights("person 6 group 3"),
            "give": weights("person 5 group 3"),
            "say": weights("person 6 group 3"),
            "want": weights("person 5 group 3"),
            "built": weights("thing 4 place 4 idea 2"),
            "arrested": weights("person 1"),
            **{verb: {verb.removeprefix("be_"): 1.0} for verb in COPULAR},
        },
    ),
    "object": (
        "verb",
        {
            "eat": weights("food 1"),
            "make": weights("thing 3 idea 4 place 1"),
            "meet": weights("person 4 group 2"),
        },
    ),
    "becomes": ("verb", {verb: {verb.removeprefix("be_"): 1.0} for verb in COPULAR}),
    "companion": (
        "verb",
        {
            "walk": weights("dir 6 loc 2 with 2 day 1"),
            "rise": weights("month 5 during 3 loc 2"),
            "eat": weights("loc 4 with 4 day 1"),
            "make": weights("for 5 loc 3 month 2"),
            "meet": weights("loc 5 day 3 about 2 during 1"),
            "give": weights("loc 1 day 2 during 2"),
            "built": weights("loc 3 for 2 month 3"),
            "arrested": weights("loc 4 day 3 for 1"),
        },
    ),
    "modifying": (
        "kind",
        {
            "person": weights("from 5 with 1 of 2"),
            "group": weights("of 2 from 3 for 1"),
            "place": weights("of 1 loc 3"),
            "thing": weights("from 2 for 3 loc 2"),
            "food": weights("topped 5 from 2"),
            "idea": weights("of 4 about 3 for 2"),
        },
    ),
    "held": (
        "role",
        {
            "of": weights("group 4 place 3 person 1"),
            "loc": weights("place 1"),
            "dir": weights("place 1"),
            "with": weights("person 4 group 1"),
            "topped": weights("food 1"),
            "about": weights("idea 4 person 1 thing 1"),
            "for": weights("person 4 group 3"),
            "from": weights("place 5 group 1"),
            "by": weights("person 3 group 4"),
            "to": weights("person 4 group 2"),
            "during": weights("time 1"),
            "day": weights("day 1"),
            "month": weights("month 1"),
        },
    ),
    "done": (
        "kind",
        {
            "person": weights("walk 2 eat 2 make 2 meet 3 say 3 want 2 give 2 be_person 3"),
            "group": weights("make 4 meet 2 say 2 want 2 give 2 be_group 1"),
            "place": weights("be_place 1"),
            "thing": weights("rise 1 be_thing 3"),
            "food": weights("be_food 1"),
            "idea": weights("rise 3 be_idea 2"),
        },
    ),
    "suffered": (
        "kind",
        {
            "person": weights("meet 1"),
            "group": weights("meet 1"),
            "thing": weights("make 1"),
            "place": weights("make 1"),
            "food": weights("eat 1"),
            "idea": weights("make 1"),
        },
    ),
    "also": (
        "verb",
        {
            **dict.fromkeys(["walk", "eat"], weights("walk 2 eat 2 meet 1 say 1")),
            **dict.fromkeys(
                ["make", "meet", "say", "want", "give"],
                weights("make 3 meet 3 say 2 want 1 give 2"),
            ),
            "rise": weights("rise 1"),
        },
    ),
    "aspect": (
        "form",
        {
            "past_sg": weights("past_sg 12 had 1 was 1"),
            "past_pl": weights("past_pl 12 had 1 were 1"),
            "pres_sg": weights("pres_sg 6 has 3 is 2"),
            "pres_pl": weights("pres_pl 6 have 3 are 2"),
        },
    ),
    "relative": (
        "num",
        {
            "sg": weights("past_sg 5 pres_sg 3 had 1 has 1"),
            "pl": weights("past_pl 5 pres_pl 3 had 1 have 1"),
        },
    ),
    "modifier": (
        "kind",
        {
            "person": weights("group 2 idea 2"),
            "group": weights("food 1 thing 1 idea 2"),
            "place": weights("thing 2 food 1"),
            "thing": weights("thing 1"),
            "food": weights("food 1"),
            "idea": weights("group 2 thing 1 food 1"),
        },
    ),
}

_SETS = {
    "$FINITE": "|".join(FINITE),
    "$DYNAMIC": "|".join(DYNAMIC),
    "$STATIVE": "|".join(STATIVE),
    "$COPULAR": "|".join(COPULAR),
    "$PASSIVE": "|".join(PASSIVE),
    "$ACTIVE": "|".join(DYNAMIC + STATIVE),
    "$COMMON": "person|group|place|thing|food|idea",
    "$NAMED": "nom|acc|bare",
    "$CASES": "nom|acc|bare|core",
}

_RULES = """
# whole sentences
20  ROOT -> S{form=$FINITE}^ .{end=stop}:punct
1.6 ROOT -> S{form=$FINITE}^ ,:punct@4 CC{joins=clauses}:cc@4 S{form=$FINITE}:conj .{end=stop}:punct
1.2 ROOT -> ``:punct@2 S{form=$FINITE}:ccomp ,:punct '':punct NP{case=bare,kind=person}:nsubj VBD{form=past_sg,verb=say}^ .{end=stop}:punct
.9  ROOT -> SQ{verb=$ACTIVE|$COPULAR}^ .{end=ask}:punct
.6  ROOT -> SBARQ^ .{end=ask}:punct
.3  ROOT -> UH:discourse ,:punct S{form=$FINITE}^ .{end=stop}:punct
.1  ROOT -> UH^ .{end=stop}:punct
.3  ROOT -> NP{case=bare}^

# clauses
20  S{form=past_sg|pres_sg,verb=$DYNAMIC} -> NP{num=sg,case=nom,kind=@subject}:nsubj VP{form=@aspect}^
20  S{form=past_pl|pres_pl,verb=$DYNAMIC} -> NP{num=pl,case=nom,kind=@subject}:nsubj VP{form=@aspect}^
20  S{form=past_sg|pres_sg,verb=$STATIVE|$COPULAR} -> NP{num=sg,case=nom,kind=@subject}:nsubj VP^
20  S{form=past_pl|pres_pl,verb=$STATIVE|$COPULAR} -> NP{num=pl,case=nom,kind=@subject}:nsubj VP^
20  S{form=past_sg|pres_sg,verb=$PASSIVE} -> NP{num=sg,case=nom,kind=@subject}:nsubj:pass VP{form=@aspect}^
20  S{form=past_pl|pres_pl,verb=$PASSIVE} -> NP{num=pl,case=nom,kind=@subject}:nsubj:pass VP{form=@aspect}^
1.3 S{form=$FINITE} -> PP{role=loc|day|month|during}:obl ,:punct S^
.6  S{form=$FINITE} -> SBAR{type=sub,num=sg,kind=idea}:advcl ,:punct S^
.6  S{form=$FINITE} -> ADVP{adv=sentence}:advmod ,:punct S^
.4  S{form=past_sg|past_pl} -> NP-TMP{when=past}:obl:tmod ,:punct S^
1   S{form=to} -> VP^
6   SBAR{type=that} -> IN{role=that}:mark S{form=$FINITE}^
6   SBAR{type=sub} -> IN{role=sub}:mark S{form=$FINITE}^
6   SBAR{type=rel} -> WHNP:nsubj VP{form=@relative,verb=@done}^
3   SBAR{type=rel,kind=group|place|thing|food|idea} -> WHNP:obj NP{case=nom,num=sg|pl,kind=person|group}:nsubj VBD{form=past_sg,verb=@suffered}^
1   WHNP{kind=person} -> WP^
1   WHNP{kind=group|place|thing|food|idea} -> WDT^
2   SQ{verb=$ACTIVE} -> VBD{form=past_sg,verb=do}:aux NP{case=nom,kind=@subject}:nsubj VP{form=base}^
1   SQ{verb=$ACTIVE,num=sg} -> VBZ{verb=do}:aux NP{case=nom,kind=@subject}:nsubj VP{form=base}^
1   SQ{verb=$ACTIVE,num=pl} -> VBP{verb=do}:aux NP{case=nom,kind=@subject}:nsubj VP{form=base}^
2   SQ{verb=$ACTIVE} -> MD:aux NP{case=nom,kind=@subject}:nsubj VP{form=base}^
1   SQ{verb=$COPULAR,num=sg} -> VBZ{verb=be}:cop NP{case=nom,kind=@subject}:nsubj ADJP{kind=@becomes}^
1   SQ{verb=$COPULAR,num=pl} -> VBP{verb=be}:cop NP{case=nom,kind=@subject}:nsubj ADJP{kind=@becomes}^
3   SBARQ -> WHADVP:advmod SQ{verb=$ACTIVE}^
2   SBARQ -> WHNP{kind=person}:nsubj VP{form=past_sg|pres_sg,verb=eat|make|meet|give|want|say}^
1   WHADVP -> WRB^

# verb phrases: arguments
2   VP{verb=walk|rise} -> V^
6   VP{verb=walk} -> V^ PP{role=dir|loc}:obl
3   VP{verb=walk|rise} -> V^ ADVP{adv=after}:advmod
3   VP{verb=rise} -> V^ PP{role=month|during|loc}:obl
9   VP{verb=eat|make|meet} -> V^ NP{case=acc,kind=@object}:obj
2   VP{verb=eat|make|meet} -> V^ NP{case=acc,kind=@object}:obj PP{role=@companion}:obl
5   VP{verb=give} -> V^ NP{case=acc,kind=person|group}:iobj NP{case=bare,kind=thing|food|idea}:obj
4   VP{verb=give} -> V^ NP{case=acc,kind=thing|food|idea}:obj PP{role=to}:obl
6   VP{verb=say} -> V^ SBAR{type=that,num=sg,kind=idea}:ccomp
5   VP{verb=say} -> V^ S{form=$FINITE,verb=$ACTIVE|$COPULAR|$PASSIVE}:ccomp
8   VP{verb=want} -> V^ S{form=to,verb=walk|eat|make|meet|give}:xcomp
6   VP{verb=$COPULAR} -> V{verb=be}:cop ADJP{kind=@becomes}^
1   VP{verb=be_place|be_thing|be_person} -> V{verb=be}:cop PP{role=loc}^
2   VP{verb=$COPULAR,form=past_sg} -> VBD{verb=be}:cop NP{num=sg,case=pred,kind=@becomes}^
2   VP{verb=$COPULAR,form=pres_sg} -> VBZ{verb=be}:cop NP{num=sg,case=pred,kind=@becomes}^
2   VP{verb=$COPULAR,form=past_pl} -> VBD{verb=be}:cop NP{num=pl,case=pred,kind=@becomes}^
2   VP{verb=$COPULAR,form=pres_pl} -> VBP{verb=be}:cop NP{num=pl,case=pred,kind=@becomes}^
.6  VP{verb=$COPULAR} -> F{verb=be}:cop RB{adv=not}:advmod ADJP{kind=@becomes}^
9   VP{verb=$PASSIVE} -> V{verb=be}:aux:pass VP{form=pass}^
3   VP{verb=built,form=pass} -> VBN{verb=make}^
2   VP{verb=built,form=pass} -> VBN{verb=make}^ PP{role=by}:obl:agent
3   VP{verb=arrested,form=pass} -> VBN{verb=meet}^
2   VP{verb=arrested,form=pass} -> VBN{verb=meet}^ PP{role=by}:obl:agent
1   VP{form=to} -> TO{role=inf}:mark VP{form=base}^

# verb phrases: auxiliaries
1.4 VP{form=$FINITE} -> MD:aux VP{form=base}^
.8  VP{form=past_sg|past_pl,verb=$ACTIVE} -> VBD{verb=do}:aux RB{adv=not}:advmod VP{form=base}^
.8  VP{form=pres_sg,verb=$ACTIVE} -> VBZ{verb=do}:aux RB{adv=not}:advmod VP{form=base}^
.8  VP{form=pres_pl,verb=$ACTIVE} -> VBP{verb=do}:aux RB{adv=not}:advmod VP{form=base}^
.3  VP{form=$FINITE} -> MD:aux RB{adv=not}:advmod VP{form=base}^
1   VP{form=had} -> VBD{form=past_sg,verb=have}:aux VP{form=part}^
1   VP{form=has} -> VBZ{verb=have}:aux VP{form=part}^
1   VP{form=have} -> VBP{verb=have}:aux VP{form=part}^
1   VP{form=was} -> VBD{form=past_sg,verb=be}:aux VP{form=ger}^
1   VP{form=were} -> VBD{form=past_pl,verb=be}:aux VP{form=ger}^
1   VP{form=is} -> VBZ{verb=be}:aux VP{form=ger}^
1   VP{form=are} -> VBP{verb=be}:aux VP{form=ger}^

# verb phrases: additions
1.6 VP{verb=$DYNAMIC|$PASSIVE,form=$FINITE|base|ger|part|pass} -> VP^ PP{role=@companion}:obl
.8  VP{form=past_sg|past_pl,verb=$DYNAMIC|$PASSIVE} -> VP^ NP-TMP{when=past}:obl:tmod
.6  VP{form=pres_sg|pres_pl|ger,verb=$DYNAMIC} -> VP^ NP-TMP{when=present}:obl:tmod
.7  VP{form=$FINITE|base,verb=eat|make|meet|give|walk|rise} -> ADVP{adv=manner}:advmod VP^
.6  VP{form=$FINITE,verb=$DYNAMIC|$PASSIVE} -> VP^ SBAR{type=sub,num=sg,kind=idea}:advcl
.7  VP{form=$FINITE|base,verb=$ACTIVE} -> VP^ CC{joins=phrases}:cc@3 VP{verb=@also}:conj

# noun phrases
6   NP{case=nom|acc,kind=person} -> PRP^
.6  NP{case=nom|acc,kind=group|thing|idea} -> PRP^
.3  NP{case=nom|acc,num=sg,kind=idea} -> DT{det=pro}^
3   NP{case=$NAMED,num=sg,kind=person} -> NNP{name=last}^
4   NP{case=$NAMED,num=sg,kind=person} -> NNP{name=first|title}^ NNP{name=last}:flat
5   NP{case=$NAMED,num=sg,kind=group} -> NNP{name=group}^
12  NP{case=$NAMED,num=sg,kind=place} -> NNP{name=place}^
1   NP{kind=day} -> NNP{name=day}^
3   NP{kind=month} -> NNP{name=month}^
1   NP{kind=month} -> NNP{name=month}^ CD{cd=year}:nmod
3   NP{kind=month} -> CD{cd=year}^
3   NP{kind=time} -> DT{num=sg}:det NN^
1   NP{kind=time} -> DT{num=sg}:det JJ:amod NN^
8   NP{case=$CASES,num=sg,kind=$COMMON} -> DT:det NN^
4   NP{case=$CASES,num=sg,kind=$COMMON} -> DT:det JJ:amod NN^
.2  NP{case=$CASES,num=sg,kind=$COMMON} -> DT:det JJ:amod JJ:amod NN^
1   NP{case=$CASES,num=sg,kind=$COMMON} -> DT:det NN{kind=@modifier}:compound NN^
1   NP{case=$CASES,num=sg,kind=person|thing|food|idea} -> PRP$:nmod:poss NN^
1   NP{case=$CASES,num=sg,kind=group|thing|idea} -> NP{case=gen,num=sg|pl,kind=person|group}:nmod:poss NN^
4   NP{case=$CASES,num=pl,kind=$COMMON} -> NNS^
4   NP{case=$CASES,num=pl,kind=$COMMON} -> JJ:amod NNS^
5   NP{case=$CASES,num=pl,kind=$COMMON} -> DT:det NNS^
2   NP{case=$CASES,num=pl,kind=$COMMON} -> DT:det JJ:amod NNS^
2   NP{case=$CASES,num=pl,kind=$COMMON} -> CD{cd=count}:nummod NNS^
.5  NP{case=$CASES,num=pl,kind=$COMMON} -> CD{cd=count}:nummod JJ:amod NNS^
1   NP{case=$CASES,num=pl,kind=$COMMON} -> NN{kind=@modifier}:compound NNS^
1   NP{case=$CASES,num=pl,kind=person|thing|food|idea} -> PRP$:nmod:poss NNS^
1   NP{case=$CASES,num=pl,kind=thing|idea} -> NP{case=gen,num=sg|pl,kind=person|group}:nmod:poss NNS^
3   NP{case=pred,num=sg} -> DT{det=indef}:det NN^
4   NP{case=pred,num=sg} -> DT{det=indef}:det JJ:amod NN^
1   NP{case=pred,num=pl} -> NNS^
4   NP{case=pred,num=pl} -> JJ:amod NNS^
4   NP{case=gen,num=sg,kind=person|group} -> DT:det NN^ POS:case
3   NP{case=gen,num=sg,kind=person} -> NNP{name=last}^ POS:case
3   NP{case=gen,num=sg,kind=group} -> NNP{name=group}^ POS:case
4   NP{case=gen,num=pl,kind=person|group} -> DT:det NNS^ POS{num=pl}:case
3   NP{case=nom|acc,kind=$COMMON} -> NP{case=core}^ PP{role=@modifying}:nmod
1.3 NP{case=nom|acc,kind=$COMMON} -> NP{case=core}^ SBAR{type=rel}:acl:relcl
.7  NP{case=nom,num=sg,kind=person|group} -> NP{case=bare}^ ,:punct@3 NP{case=bare}:appos ,:punct@3
1   NP{case=nom|acc,num=pl,kind=person|group|food|thing|idea} -> NP{case=bare,num=sg|pl}^ CC{joins=phrases}:cc@3 NP{case=bare,num=sg|pl}:conj
2   NP-TMP{when=past} -> NN{kind=yesterday}^
3   NP-TMP{when=past} -> JJ{kind=last}:amod NN{kind=time}^
2   NP-TMP{when=present} -> NN{kind=today}^
2   NP-TMP{when=present} -> DT{num=sg,det=this}:det NN{kind=time}^

# the rest
1   PP{role=of|loc|dir|with|topped|about|for|from|by|during|day|month} -> IN:case NP{case=acc,kind=@held}^
1   PP{role=to} -> TO:case NP{case=acc,kind=@held}^
6   ADJP{kind=$COMMON} -> JJ^
3   ADJP{kind=$COMMON} -> RB{adv=degree}:advmod JJ^
.5  ADJP{kind=$COMMON} -> JJ^ CC{joins=phrases}:cc@3 JJ:conj
5   ADVP -> RB^
1   ADVP{adv=after} -> RB{adv=degree}:advmod RB^
"""

_VERB = re.compile(r"(?<= )[VF](?=[{^])")
_FORMS = [
    ("past_sg|past_pl", "VBD"),
    ("pres_sg", "VBZ"),
    ("pres_pl", "VBP"),
    ("base", "VB"),
    ("part", "VBN"),
    ("ger", "VBG"),
]


def _expand(line: str) -> list[str]:
    """Write a rule once for each form of the verb that ``V`` or ``F`` stands for."""
    for name, values in _SETS.items():
        line = line.replace(name, values)
    found = _VERB.search(line)
    if found is None:
        return [line]
    forms = _FORMS if found[0] == "V" else _FORMS[:3]
    return [_VERB.sub(tag, line).replace("VP{", "VP{form=" + form + ",", 1) for form, tag in forms]


RULES = "\n".join(new for line in _RULES.splitlines() for new in _expand(line))
