const SUM_OR_PRODUCT = /^[\d+\-*/() ]+$/;
const RELATION = /^([^<>]+)([<>])(=?)([^<>]+)$/;
const OF_TWO = /^(gcd|lcm)\((\d+),(\d+)\)$/;

/**
 * Returns the identity of a problem: its terse question, with what may stand in any order in a fixed one. These are the operands of sums and products, the sides of an
 * equation or of a turned inequality, the equations of a system, and the numbers of a common divisor or multiple.
 */
export function taskKey(terse: string): string {
  if (SUM_OR_PRODUCT.test(terse)) return sumKey(termsOf([...(terse.match(/\d+|[^\d ]/g) ?? [])]));
  if (terse.includes("=") && !/[<>]/.test(terse))
    return terse
      .split(";")
      .map((equation) => equation.split("=").toSorted().join("="))
      .toSorted()
      .join(";");
  const [, left, sign, equal, right] = RELATION.exec(terse) ?? [];
  if (sign !== undefined) return sign === ">" ? `${right}<${equal}${left}` : terse;
  const [, name, one, other] = OF_TWO.exec(terse) ?? [];
  return name === undefined ? terse : `${name}(${[one, other].toSorted().join()})`;
}

/** Term of a sum: a product, each factor with its operator. */
interface Term {
  readonly sign: "+" | "-";
  readonly factors: readonly string[];
}

function sumKey(terms: readonly Term[]): string {
  return terms
    .map(({ sign, factors }) => sign + factors.toSorted().join(""))
    .toSorted()
    .join("");
}

/** Reads a sum up to the end or a closing parenthesis. Sums in it lose their parentheses. */
function termsOf(tokens: string[]): Term[] {
  const terms: Term[] = [];
  do {
    const sign = tokens[0] === "-" ? "-" : "+";
    if (tokens[0] === "-" || tokens[0] === "+") tokens.shift();
    const factors: string[] = [];
    let inner: Term[] = [];
    let count = 0;
    do {
      const operator = tokens[0] === "*" || tokens[0] === "/" ? (tokens.shift() as string) : "*";
      count++;
      if (tokens[0] !== "(") factors.push(operator + tokens.shift());
      else {
        tokens.shift();
        inner = termsOf(tokens);
        tokens.shift();
        const [only] = inner;
        if (operator === "*" && inner.length === 1 && only?.sign === "+") factors.push(...only.factors);
        else factors.push(`${operator}(${sumKey(inner)})`);
      }
    } while (tokens[0] === "*" || tokens[0] === "/");
    if (count === 1 && inner.length > 1)
      terms.push(...inner.map((term): Term => ({ ...term, sign: term.sign === sign ? "+" : "-" })));
    else terms.push({ sign, factors });
  } while (tokens[0] === "+" || tokens[0] === "-");
  return terms;
}
