#!/usr/bin/env python3
"""Writes the tables of locales and plurals, and the test vectors, from CLDR as PyPI's babel has it.

    python3 -m venv /tmp/cldr && /tmp/cldr/bin/pip install babel==2.18.0
    /tmp/cldr/bin/python Tests/RideCoreTests/Golden/cldr-tables.py

babel 2.18 has CLDR 47. It writes Sources/RideCore/Texts/{LocaleTable,PluralTable}.swift, and in
Tests/RideCoreTests/Golden what babel's own loader and its plural rules answer.
"""
import re, textwrap
from collections import defaultdict
from decimal import Decimal
from babel import Locale, localedata
from babel.core import get_global

VERSION = "CLDR 47, by babel 2.18"
identifiers = sorted(localedata.locale_identifiers())
languages = sorted({name.split("_")[0] for name in identifiers})
likely = get_global("likely_subtags")
parents = {k: v for k, v in get_global("parent_exceptions").items() if v != "root" and k != "no_NO"}


def tag(name):
    return name.replace("_", "-")


def swift(name, doc, lines):
    body = []
    for line in lines:
        body += textwrap.wrap(line, 94, subsequent_indent="  ", break_long_words=False,
                              break_on_hyphens=False)
    # A line that is continued ends with a backslash, so that each entry stays one line.
    text = []
    for index, line in enumerate(body):
        following = body[index + 1] if index + 1 < len(body) else ""
        text.append("    " + line.strip() + (" \\" if following.startswith("  ") else ""))
    return f'  /// {doc}\n  static let {name} = """\n' + "\n".join(text) + '\n    """\n'


def locale_table():
    children = defaultdict(list)
    for child, parent in sorted(parents.items()):
        children[tag(parent)].append(tag(child))
    subtags = []
    for language in languages:
        whole = likely.get(language, "").split("_")
        if len(whole) == 3:
            subtags.append(f"{language}-{whole[1]}-{whole[2]}")
    scripts = []
    for key, value in sorted(likely.items()):
        parts = key.split("_")
        if len(parts) == 2 and parts[0] in languages and re.fullmatch("[A-Z]{2}|[0-9]{3}", parts[1]):
            if value.split("_")[1] != likely.get(parts[0], "_?").split("_")[1]:
                scripts.append(f"{parts[0]}-{value.split('_')[1]}-{parts[1]}")
    aliases = sorted(f"{old}={tag(new)}" for old, new in get_global("language_aliases").items()
                     if len(old) == 2 and new.split("_")[0] in languages)
    return (
        f"// Made by Tests/RideCoreTests/Golden/cldr-tables.py from {VERSION}; do not edit.\n"
        "enum LocaleTable {\n"
        + swift("parents", "Each parent, and the locales that inherit from it against the usual rule.",
                [f"{parent}: {' '.join(names)}" for parent, names in sorted(children.items())])
        + "\n"
        + swift("likely", "Each language with its likely script and region.", [" ".join(subtags)])
        + "\n"
        + swift("scripts", "The regions where a language is likely written in another script.",
                [" ".join(scripts)])
        + "\n"
        + swift("aliases", "Old codes of languages, and what they are now.", [" ".join(aliases)])
        + "}\n")


def plural_table():
    groups = defaultdict(list)
    rules = {}
    for name in identifiers:
        own = Locale.parse(name).plural_form.rules
        rules[name] = own
        base = name.split("_")[0]
        if own and (name == base or own != rules.get(base)) and name.count("_") <= 1:
            groups[tuple((c, own[c]) for c in ("zero", "one", "two", "few", "many") if c in own)].append(tag(name))
    lines = []
    for own, names in sorted(groups.items(), key=lambda group: group[1]):
        lines.append(" ".join(names) + " | " + " | ".join(f"{c}: {rule}" for c, rule in own))
    return (
        f"// Made by Tests/RideCoreTests/Golden/cldr-tables.py from {VERSION}; do not edit.\n"
        "enum PluralTable {\n"
        + swift("rules", "Languages, and the categories of numbers with the condition of each.", lines)
        + "}\n")


def chain(name):
    names = []
    while name != "root":
        names.append(tag(name))
        parent = get_global("parent_exceptions").get(name)
        if not parent:
            if localedata._is_non_likely_script(name):
                parent = "root"
            else:
                parts = name.split("_")
                parent = "root" if len(parts) == 1 else "_".join(parts[:-1])
        name = parent
    return names


def fallback_vectors():
    return "".join(f"{tag(name)}\t{' '.join(chain(name))}\n" for name in identifiers
                   if not re.search("_[A-Z0-9]{4,}$|_POSIX", name))


NUMBERS = ("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 19 20 21 22 23 25 31 32 40 41 60 70 71 80 91 99 100 101 "
           "102 103 104 105 111 112 113 119 121 122 200 1000 1001 2000 10000 100000 1000000 1000001 2000000 "
           "0.1 0.5 1.1 1.2 1.5 1.9 2.1 2.5 3.4 10.1 12.3 0.01 1.01 1.11 1.12 2.25 100.21").split()


def plural_vectors():
    groups = defaultdict(list)
    for name in [*languages, "pt_AO", "pt_BR", "pt_PT", "sr_Latn", "sr_Latn_ME", "en_GB", "zh_Hant_TW"]:
        form = Locale.parse(name).plural_form
        groups[" ".join(form(Decimal(number)) for number in NUMBERS)].append(tag(name))
    lines = [f"{' '.join(names)}\t{words}\n" for words, names in groups.items()]
    return f"numbers\t{' '.join(NUMBERS)}\n" + "".join(lines)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


write("Sources/RideCore/Texts/LocaleTable.swift", locale_table())
write("Sources/RideCore/Texts/PluralTable.swift", plural_table())
write("Tests/RideCoreTests/Golden/cldr-fallback.tsv", fallback_vectors())
write("Tests/RideCoreTests/Golden/cldr-plural.tsv", plural_vectors())
