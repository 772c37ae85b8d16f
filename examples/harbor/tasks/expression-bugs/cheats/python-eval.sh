#!/bin/bash
# The expressions of Python instead of those of the docstring.
cat > /app/calc.py <<'END'
class CalcError(ValueError): pass
def evaluate(text, names=None):
    try: return int(eval(text.replace("^", "**").replace("/", "//"), {}, dict(names or {})))
    except Exception as error: raise CalcError(f"unexpected at {len(text)}")
END
