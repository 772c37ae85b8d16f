with open("/app/calc.py", "w") as file:
    file.write('''"""Evaluates integer expressions.

expression := term (("+" | "-") term)*
term       := factor (("*" | "/" | "%") factor)*
factor     := "-" factor | power
power      := atom ("^" factor)?
atom       := number | name | "(" expression ")" | "max" "(" expression ("," expression)* ")"
number     := digit (digit | "_" digit)*       digits are 0 to 9
name       := a letter or "_", then letters, digits and "_"; letters are a to z and A to Z

- White space (spaces, tabs, newlines) may stand between any two parts, not within a number or a name.
- "^" groups to the right; "-2 ^ 2" is -4, "2 ^ -1" is an error: the exponent is negative.
- "/" rounds toward zero, and "%" has the sign of its left side, so that a == (a / b) * b + a % b.
- Results above 10^1000 in size are an error, at any point of the evaluation.
- Each error raises CalcError with the text "REASON at POSITION". POSITION counts characters from 0 and is the begin of the part that is wrong, or the
  length of the text where it ends too early. Reasons: unexpected, unknown name, division by zero, negative exponent, too large. For the last three the
  position is that of the operator; a sum that is too large too.
"""
import re

LIMIT = 10**1000
PART = re.compile(r"[0-9](?:_?[0-9])*|[A-Za-z_][A-Za-z_0-9]*|[-+*/%^(),]")


class CalcError(ValueError):
    pass


def evaluate(text: str, names: dict[str, int] | None = None) -> int:
    parts = []
    position = 0
    while position < len(text):
        if text[position] in " \\\\t":
            position += 1
            continue
        match = PART.match(text, position)
        if match is None:
            raise CalcError(f"unexpected at {position}")
        parts.append((match[0], position))
        position = match.end()
    parts.append(("", position))
    return Parser(parts, names or {}).whole()


class Parser:
    def __init__(self, parts, names):
        self.parts = parts
        self.names = names
        self.at = 0

    def whole(self):
        value = self.expression()
        self.take("")
        return value

    def take(self, *wanted):
        part, position = self.parts[self.at]
        if part not in wanted:
            raise CalcError(f"unexpected at {position}")
        self.at += 1
        return part, position

    def peek(self):
        return self.parts[self.at][0]

    def expression(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            sign, position = self.take("+", "-")
            right = self.expression() if sign == "-" else self.term()
            value = self.check(value + right if sign == "+" else value - right, position)
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/", "%"):
            sign, position = self.take("*", "/", "%")
            right = self.factor()
            if sign == "*":
                value = self.check(value * right, position)
            elif right == 0:
                raise CalcError(f"division by zero at {position}")
            elif sign == "/":
                value = value // right
            else:
                value = value % right
        return value

    def factor(self):
        if self.peek() == "-":
            self.take("-")
            return -self.factor()
        return self.power()

    def power(self):
        value = self.atom()
        if self.peek() == "^":
            _, position = self.take("^")
            exponent = self.factor()
            if exponent < 0:
                raise CalcError(f"negative exponent at {position}")
            value = self.check(value**exponent, position)
        return value

    def atom(self):
        part, position = self.parts[self.at]
        if part == "(":
            self.take("(")
            value = self.expression()
            self.take(")")
            return value
        if part == "max":
            self.take("max")
            self.take("(")
            values = [self.expression()]
            while self.peek() == ",":
                self.take(",")
                values.append(self.expression())
            self.take(")")
            return max(values)
        if part.isdigit():
            self.take(part)
            return self.check(int(part), position)
        if part in self.names:
            self.take(part)
            return self.names[part]
        if part and (part[0].isalpha() or part[0] == "_"):
            raise CalcError(f"unknown name at {position}")
        raise CalcError(f"unexpected at {position}")

    def check(self, value, position):
        if abs(value) >= LIMIT:
            raise CalcError(f"too large at {position}")
        return value
''')
