/** Kinds of planted faults. */
export type FaultKind = "off by one" | "wrong operator" | "swapped arguments" | "missing case" | "wrong default";

/** Fault of a module: a text of its source, the text in its place, and a call whose result then differs. */
export interface Fault {
  readonly kind: FaultKind;
  readonly right: string;
  readonly wrong: string;
  /** Expression of Python, and the `repr` of its right value. */
  readonly example: readonly [call: string, value: string];
}

/** Small module of Python that is right. */
export interface Module {
  readonly name: string;
  readonly source: string;
  readonly faults: readonly Fault[];
  /** Body of a function of Python that draws calls by `rng` and returns a list of expressions. */
  readonly calls: string;
}

type Row = readonly [right: string, wrong: string, call: string, value: string];

const KINDS: readonly FaultKind[] = [
  "off by one",
  "wrong operator",
  "swapped arguments",
  "missing case",
  "wrong default",
];

/** @param rows a fault of each kind, in the order of the kinds */
function module(name: string, source: string, calls: string, rows: readonly Row[]): Module {
  const faults = rows.map(([right, wrong, call, value], at): Fault => {
    if (source.split(right).length !== 2) throw new Error(`${name}.py has the text ${right} not once`);
    return { kind: KINDS[at] as FaultKind, right, wrong, example: [call, value] };
  });
  return { name, source: source.trimStart(), calls: calls.trim(), faults };
}

const intervals = module(
  "intervals",
  `
"""Intervals of whole numbers. An interval is a pair (first, last), both included."""


def merge(intervals):
    """Returns the fewest intervals with the same numbers, sorted: neighbours such as (1, 2) and (3, 4) are joined."""
    merged = []
    for first, last in sorted(intervals):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def count(intervals):
    """Returns how many numbers are in at least one interval."""
    return sum(last - first + 1 for first, last in merge(intervals))


def gaps(intervals, low=0, high=100):
    """Returns the intervals of the numbers from low (default 0) to high (default 100) that are in no interval."""
    found = []
    start = low
    for first, last in merge(intervals):
        if first > start:
            found.append((start, min(first - 1, high)))
        start = max(start, last + 1)
    if start <= high:
        found.append((start, high))
    return [gap for gap in found if gap[0] <= gap[1]]
`,
  `
pairs = [(at, at + rng.randrange(9)) for at in [rng.randrange(-5, 130) for _ in range(rng.randrange(8))]]
return [f"merge({pairs})", f"count({pairs})", f"gaps({pairs})", f"gaps({pairs}, {rng.randrange(9)}, {rng.randrange(5, 60)})"]
`,
  [
    ["last - first + 1 for", "last - first for", "count([(1, 3), (7, 7)])", "4"],
    ["max(last, merged", "min(last, merged", "merge([(1, 9), (2, 3)])", "[(1, 9)]"],
    ["append((start, high))", "append((high, start))", "gaps([(0, 3)], 0, 5)", "[(4, 5)]"],
    ["return [gap for gap in found if gap[0] <= gap[1]]", "return found", "gaps([(0, 150), (160, 170)])", "[]"],
    ["high=100)", "high=99)", "gaps([(0, 97)])", "[(98, 100)]"],
  ],
);

const columns = module(
  "columns",
  `
"""Text in columns."""


def pad(text, width, fill=" ", right=False):
    """Returns text of at least \`width\` characters, filled up by \`fill\`, one character. With \`right\` (default False) the text stands on the right."""
    missing = fill * (width - len(text))
    return missing + text if right else text + missing


def cut(text, width, mark="..."):
    """Returns text of at most \`width\` characters. A longer text ends with \`mark\`; of a mark longer than \`width\` the first characters remain alone."""
    if len(text) <= width:
        return text
    if width <= len(mark):
        return mark[:width]
    return text[: width - len(mark)] + mark


def table(rows, gap=2):
    """Returns a line for each row of texts, which may have different lengths. Columns are \`gap\` (default 2) spaces apart; no line ends with a space."""
    size = max((len(row) for row in rows), default=0)
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(size)]
    return [(" " * gap).join(pad(cell, width) for cell, width in zip(row, widths)).rstrip() for row in rows]
`,
  `
words = ["".join(rng.choice("abc") for _ in range(rng.randrange(9))) for _ in range(6)]
rows = [rng.sample(words, rng.randrange(1, 5)) for _ in range(rng.randrange(4))]
width = rng.randrange(9)
return [f"pad({words[0]!r}, {width})", f"pad({words[1]!r}, {width}, '-', True)", f"cut({words[2]!r}, {width})", f"cut({words[3]!r}, {width}, '~')", f"table({rows})", f"table({rows}, {width})"]
`,
  [
    ["len(text) <= width", "len(text) < width", "cut('abcde', 5)", "'abcde'"],
    ["width <= len(mark)", "width >= len(mark)", "cut('abcdefgh', 5)", "'ab...'"],
    [
      "missing + text if right else text + missing",
      "text + missing if right else missing + text",
      "pad('a', 3)",
      "'a  '",
    ],
    [" for row in rows if at < len(row))", " for row in rows)", "table([['a'], ['bb', 'c']])", "['a', 'bb  c']"],
    ["gap=2", "gap=1", "table([['a', 'b']])", "['a  b']"],
  ],
);

const versions = module(
  "versions",
  `
"""Versions such as "v1.2.3-rc1"."""


def parse(text):
    """Returns the numbers and the label: ([1, 2, 3], "rc1"). The leading "v" may be missing, and the label: then it is ""."""
    number, _, label = text.removeprefix("v").partition("-")
    return [int(part) for part in number.split(".")], label


def compare(left, right):
    """Returns -1, 0 or 1. Missing numbers are 0. With equal numbers a label comes before none; two labels are compared as texts."""
    (one, first), (two, second) = parse(left), parse(right)
    size = max(len(one), len(two))
    one += [0] * (size - len(one))
    two += [0] * (size - len(two))
    if one != two:
        return -1 if one < two else 1
    if first == second:
        return 0
    if first == "" or second == "":
        return 1 if first == "" else -1
    return -1 if first < second else 1


def newest(versions, labels=False):
    """Returns the newest version, or None; of equal ones the first. Versions with a label count only with \`labels\` (default False)."""
    best = None
    for version in versions:
        if not labels and parse(version)[1]:
            continue
        if best is None or compare(best, version) < 0:
            best = version
    return best


def bump(version, part=2):
    """Returns the version without label whose number at the index \`part\` (default 2) is one higher. Numbers after it, and missing ones, are 0."""
    numbers, _ = parse(version)
    numbers += [0] * (part + 1 - len(numbers))
    numbers[part] += 1
    return ".".join(str(number if at <= part else 0) for at, number in enumerate(numbers))
`,
  `
texts = [rng.choice(["", "v"]) + ".".join(str(rng.randrange(3)) for _ in range(rng.randrange(1, 4))) + rng.choice(["", "", "-rc1", "-beta"]) for _ in range(5)]
return [f"compare({texts[0]!r}, {texts[1]!r})", f"newest({texts})", f"newest({texts}, labels=True)", f"bump({texts[2]!r})", f"bump({texts[3]!r}, {rng.randrange(3)})"]
`,
  [
    ["part + 1 - len(numbers)", "part - len(numbers)", "bump('v1.2')", "'1.2.1'"],
    ["compare(best, version) < 0", "compare(best, version) <= 0", "newest(['1.0', '1'])", "'1.0'"],
    ['return 1 if first == "" else -1', 'return -1 if first == "" else 1', "compare('1-rc1', '1')", "-1"],
    ["    one += [0] * (size - len(one))\n    two += [0] * (size - len(two))\n", "", "compare('1', '1.0')", "0"],
    ["labels=False)", "labels=True)", "newest(['1', '2-rc1'])", "'1'"],
  ],
);

const grids = module(
  "grids",
  `
"""Grids: lists of rows of the same length."""


def neighbours(row, column, height, width, diagonal=False):
    """Returns the places beside a place, by rows, then columns. Those that touch it at a corner count only with \`diagonal\` (default False)."""
    places = []
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if (down, right) == (0, 0) or (down and right and not diagonal):
                continue
            if 0 <= row + down < height and 0 <= column + right < width:
                places.append((row + down, column + right))
    return places


def area(rows, row, column):
    """Returns the sorted places with the value of (row, column) that are joined to it by sides."""
    found = set()
    left = [(row, column)]
    while left:
        at, by = left.pop()
        if (at, by) not in found and rows[at][by] == rows[row][column]:
            found.add((at, by))
            left += neighbours(at, by, len(rows), len(rows[0]))
    return sorted(found)


def window(rows, row, column, size=1):
    """Returns the part of the grid that is at most \`size\` (default 1) rows and columns away from a place."""
    return [each[max(0, column - size) : column + size + 1] for each in rows[max(0, row - size) : row + size + 1]]
`,
  `
height, width = rng.randrange(1, 5), rng.randrange(1, 5)
rows = [[rng.randrange(2) for _ in range(width)] for _ in range(height)]
place = f"{rng.randrange(height)}, {rng.randrange(width)}"
return [f"neighbours({place}, {height}, {width})", f"neighbours({place}, {height}, {width}, True)", f"area({rows}, {place})", f"window({rows}, {place})", f"window({rows}, {place}, {rng.randrange(4)})"]
`,
  [
    ["column + size + 1] for", "column + size] for", "window([[1, 2, 3]], 0, 0)", "[[1, 2]]"],
    ["== (0, 0) or (down", "== (0, 0) and (down", "neighbours(0, 0, 1, 2)", "[(0, 1)]"],
    ["len(rows), len(rows[0])", "len(rows[0]), len(rows)", "area([[1, 1, 0]], 0, 0)", "[(0, 0), (0, 1)]"],
    ["rows[max(0, row - size) :", "rows[row - size :", "window([[1], [2], [3]], 0, 0)", "[[1], [2]]"],
    ["diagonal=False)", "diagonal=True)", "neighbours(0, 0, 2, 2)", "[(0, 1), (1, 0)]"],
  ],
);

const money = module(
  "money",
  `
"""Amounts in whole cents."""


def share(cents, weights):
    """Divides cents >= 0 in proportion to weights, which are whole numbers above 0. What rounding down leaves goes to the largest remainders, one cent each, on equality to the first."""
    total = sum(weights)
    parts = [cents * weight // total for weight in weights]
    order = sorted(range(len(weights)), key=lambda at: -(cents * weights[at] % total))
    for at in order[: cents - sum(parts)]:
        parts[at] += 1
    return parts


def show(cents, separator=","):
    """Returns "1,234.05" for 123405: groups of three digits with \`separator\` (default ",") between them, two digits after the point, "-" before a negative amount."""
    whole, rest = divmod(abs(cents), 100)
    digits = str(whole)
    groups = []
    while len(digits) > 3:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    return ("-" if cents < 0 else "") + separator.join([digits, *groups]) + f".{rest:02}"


def tax(cents, percent, included=False):
    """Returns the tax of cents >= 0, rounded to the nearest cent, half a cent up. With \`included\` (default False) the amount contains the tax."""
    base = 100 + percent if included else 100
    return (2 * cents * percent + base) // (2 * base)
`,
  `
cents, percent = rng.choice([rng.randrange(99), rng.randrange(10**5), rng.randrange(10**10)]), rng.randrange(40)
weights = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 6))]
return [f"share({cents}, {weights})", f"show({cents})", f"show({-cents}, ' ')", f"tax({cents}, {percent})", f"tax({cents}, {percent}, True)"]
`,
  [
    ["len(digits) > 3", "len(digits) > 2", "show(12345)", "'123.45'"],
    ["key=lambda at: -(", "key=lambda at: +(", "share(10, [1, 2, 4])", "[1, 3, 6]"],
    ["groups.insert(0, digits[-3:])", "groups.append(digits[-3:])", "show(123456789)", "'1,234,567.89'"],
    ["divmod(abs(cents), 100)", "divmod(cents, 100)", "show(-5)", "'-0.05'"],
    ["included=False)", "included=True)", "tax(10000, 25)", "2500"],
  ],
);

const recent = module(
  "recent",
  `
"""A cache of the values that were used last."""


def replay(operations, size=3):
    """Returns the answers of a cache with at most \`size\` (default 3) keys.

    ("put", key, value) keeps or replaces a value and answers the key that was dropped for it: the one whose use is the longest ago, or None.
    ("get", key) answers the value, or None. Both use the key.
    """
    values, answers = {}, []
    for name, key, *rest in operations:
        answer = None
        if name == "put":
            values.pop(key, None)
            values[key] = rest[0]
            if len(values) > size:
                answer = next(iter(values))
                del values[answer]
        elif name == "get" and key in values:
            answer = values[key]
            values[key] = values.pop(key)
        answers.append(answer)
    return answers
`,
  `
steps = [("put", rng.randrange(6), rng.randrange(100)) if rng.random() < 0.6 else ("get", rng.randrange(6)) for _ in range(rng.randrange(20))]
return [f"replay({steps})", f"replay({steps}, {rng.randrange(1, 5)})"]
`,
  [
    ["len(values) > size", "len(values) > size + 1", "replay([('put', 1, 1), ('put', 2, 2)], 1)", "[None, 1]"],
    ['name == "get" and key', 'name == "get" or key', "replay([('get', 1)])", "[None]"],
    [
      "next(iter(values))",
      "next(reversed(values))",
      "replay([('put', 1, 1), ('put', 2, 2), ('put', 3, 3)], 2)",
      "[None, None, 1]",
    ],
    [
      "            values.pop(key, None)\n",
      "",
      "replay([('put', 1, 1), ('put', 2, 2), ('put', 1, 3), ('put', 3, 3)], 2)",
      "[None, None, None, 2]",
    ],
    ["size=3)", "size=4)", "replay([('put', at, at) for at in range(4)])", "[None, None, None, 0]"],
  ],
);

/** Modules in which faults are planted. */
export const MODULES: readonly Module[] = [intervals, columns, versions, grids, money, recent];
