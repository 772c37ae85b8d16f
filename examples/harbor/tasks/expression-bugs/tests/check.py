import json
import random

DRIVER = """
import json, sys
sys.path.insert(0, "/app")
import calc
sys.set_int_max_str_digits(0)
answers = []
for text, names in json.load(sys.stdin):
    try:
        answers.append(str(calc.evaluate(text, names)))
    except calc.CalcError as error:
        answers.append(f"error {error}")
    except Exception as error:
        answers.append(f"raised {type(error).__name__}")
print(json.dumps(answers))
"""
rng = random.Random(127)
big = "9" * 1000
cases = [
    ("1 - 2 - 3", "-4"), ("2^3^2", "512"), ("-2 ^ 2", "-4"), ("2 ^ -1", "error negative exponent at 2"), ("7 / -2", "-3"), ("-7 / 2", "-3"), ("-7 % 3", "-1"), ("7 % -3", "1"), ("1\n+\t2", "3"),
    ("1_000 + 1", "1001"), ("1__0", "error unexpected at 1"), ("1_", "error unexpected at 1"), ("12 3", "error unexpected at 3"), ("1 + ", "error unexpected at 4"), ("(1", "error unexpected at 2"), ("", "error unexpected at 0"),
    ("  ", "error unexpected at 2"), ("5 % 0", "error division by zero at 2"), ("5 / (1 - 1)", "error division by zero at 2"), ("1 + b", "error unknown name at 4"), ("max(1, 5, 3)", "5"), ("max + 1", "8"), ("max", "7"),
    ("max (2)", "2"), ("max()", "error unexpected at 4"), ("max(1,)", "error unexpected at 6"), ("a^0", "1"), ("0^0", "1"), ("10^1000", "1" + "0" * 1000), ("-10^1000", "-1" + "0" * 1000), ("10^1000 + 1", "error too large at 8"),
    (big, big), (big + "0", "error too large at 0"), ("1" + "0" * 1000, "1" + "0" * 1000), ("9^9^9^9", "error too large at 3"), ("1^9^99", "1"), ("0^9^99", "0"), ("(-1)^(9^99+1)", "1"), ("(-1)^(9^99)", "-1"),
    ("2 ^ 3322 - 2^3321", "error too large at 2"), ("2^3321 * 2", "error too large at 7"), ("(-2)^3322", "error too large at 4"), ("1 $ 2 + b", "error unexpected at 2"), ("b $", "error unexpected at 2"), ("1/0 + b", "error division by zero at 1"),
    ("b + 1/0", "error unknown name at 0"), ("--3", "3"), ("2 * -3", "-6"), ("2 - -3", "5"), ("+3", "error unexpected at 0"), ("1 2 $", "error unexpected at 4"), ("a.b", "error unexpected at 1"), ("\u00e9", "error unexpected at 0"), ("\u0663", "error unexpected at 0"),
    ("1\u00a0+ 1", "error unexpected at 1"), ("1\r", "error unexpected at 1"), ("x_1 * 2", "84"), ("3 * (2 + a) ^ 2 % 5", "3"), ("8 - 3 + 2", "7"), ("8 - (3 + 2)", "3"), ("100 / 7 / 2", "7"), ("100 / 7 * 2", "28"), ("maxi", "error unknown name at 0"), ("1a", "error unexpected at 1"),
    ("5 ^ -(0)", "1"), ("2 ^ -2 / 0", "error negative exponent at 2"), ("(" * 60 + "1" + ")" * 60, "1"), ("-" * 90 + "1", "1"), (")", "error unexpected at 0"), ("1,2", "error unexpected at 1"), ("_ + _", "4"),
]
names = {"a": 4, "max": 7, "x_1": 42, "_": 2}
calls = [[text, names] for text, _ in cases]
correct = [answer for _, answer in cases]


def grow(depth):
    """Returns an expression and its value."""
    kind = rng.randrange(7) if depth else 0
    if kind == 0:
        number = rng.randrange(30)
        return str(number), number
    left, one = grow(depth - 1)
    if kind == 1:
        return f"-({left})", -one
    right, two = grow(depth - 1)
    if kind == 2:
        return f"max({left},{right})", max(one, two)
    sign = rng.choice("+-*/%")
    if sign in "/%" and two == 0:
        sign = "+"
    quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1) if two else 0
    value = {"+": one + two, "-": one - two, "*": one * two, "/": quotient, "%": one - quotient * two}[sign]
    return f"({left}) {sign} ({right})", value


for _ in range(200):
    text, value = grow(4)
    calls.append([text, {}])
    correct.append(str(value))
for _ in range(200):
    numbers = [rng.randrange(1, 50) for _ in range(5)]
    signs = [rng.choice(["+", "-", "*"]) for _ in range(4)]
    text = str(numbers[0]) + "".join(f" {sign} {number}" for sign, number in zip(signs, numbers[1:]))
    calls.append([text, {}])
    correct.append(str(eval(text)))
out = output(["/usr/bin/python3", "-B", "-c", DRIVER], stdin=json.dumps(calls), seconds=20)
try:
    got = json.loads(out)
except ValueError as error:
    raise Wrong(f"the module printed {out[:200]!r}") from error
expect(isinstance(got, list) and len(got) == len(correct), "the module printed other answers")
for call, answer, right in zip(calls, got, correct):
    expect(answer == right, f"{call[0][:60]!r} gave {str(answer)[:60]}, not {right[:60]}")
