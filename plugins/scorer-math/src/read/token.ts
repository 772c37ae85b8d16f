/** Tokens of an answer and the tables that name them. */
import type { Rational } from "../exact/rational.ts";
import type { RelationOperator } from "../tree/node.ts";

export type TokenKind = "number" | "letter" | "word" | "text" | "command" | "operator" | "relation" | "end";

/**
 * `value` is the character, command name, word or text. `start` and `end` are offsets in the cleaned source;
 * `hasSpace` tells whether white space comes before.
 */
export type Token = {
  readonly kind: TokenKind;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly hasSpace: boolean;
  readonly number?: { readonly value: Rational; readonly decimals?: number };
};

export const RELATION_COMMANDS: Readonly<Record<string, RelationOperator>> = {
  le: "<=",
  leq: "<=",
  leqslant: "<=",
  leqq: "<=",
  ge: ">=",
  geq: ">=",
  geqslant: ">=",
  geqq: ">=",
  lt: "<",
  gt: ">",
  ne: "!=",
  neq: "!=",
  approx: "~",
  approxeq: "~",
  simeq: "~",
  sim: "~",
  cong: "~",
  thickapprox: "~",
  doteq: "~",
  eq: "=",
  coloneqq: "=",
  triangleq: "=",
  in: "in",
  notin: "notin",
  subset: "subset",
  subseteq: "subset",
  equiv: "equiv",
  parallel: "parallel",
  perp: "perpendicular",
  to: "to",
  rightarrow: "to",
  mapsto: "to",
  longrightarrow: "to",
};

/** Commands that name a one-letter-like symbol. */
export const GREEK: ReadonlySet<string> = new Set(
  (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega " +
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar nabla partial aleph"
  ).split(" "),
);

/** Functions of one argument, with or without brackets, by the name that the tree uses. */
export const FUNCTIONS: Readonly<Record<string, string>> = {
  sin: "sin",
  cos: "cos",
  tan: "tan",
  tg: "tan",
  cot: "cot",
  ctg: "cot",
  sec: "sec",
  csc: "csc",
  cosec: "csc",
  arcsin: "asin",
  arccos: "acos",
  arctan: "atan",
  arctg: "atan",
  asin: "asin",
  acos: "acos",
  atan: "atan",
  arccot: "acot",
  arcctg: "acot",
  arcsec: "asec",
  arccsc: "acsc",
  sinh: "sinh",
  cosh: "cosh",
  tanh: "tanh",
  coth: "coth",
  sech: "sech",
  csch: "csch",
  arsinh: "asinh",
  arcsinh: "asinh",
  asinh: "asinh",
  arcosh: "acosh",
  arccosh: "acosh",
  acosh: "acosh",
  artanh: "atanh",
  arctanh: "atanh",
  atanh: "atanh",
  exp: "exp",
  ln: "ln",
  log: "log",
  lg: "log",
  abs: "abs",
  sgn: "sign",
  sign: "sign",
  floor: "floor",
  ceil: "ceil",
  factorial: "factorial",
  det: "det",
  tr: "tr",
  dim: "dim",
  ker: "ker",
  deg: "deg",
  arg: "arg",
  Re: "re",
  Im: "im",
  gcd: "gcd",
  lcm: "lcm",
  max: "max",
  min: "min",
  mod: "mod",
  Arg: "arg",
};

/** Markup whose one argument is words. */
export const TEXT_COMMANDS: ReadonlySet<string> = new Set(
  "text textbf textit textrm textnormal textsf texttt textup textsc mbox hbox mathrm rm emph fbox mathsf mathtt operatorname operatorname* underline".split(
    " ",
  ),
);

/** Markup whose one argument is mathematics and that changes nothing. */
export const TRANSPARENT_COMMANDS: ReadonlySet<string> = new Set(
  "mathbf boldsymbol bm mathit mathcal mathscr mathfrak boxed bold ensuremath smash mathop mathord mathbin mathrel cancel color textcolor".split(
    " ",
  ),
);

/** Accents that make another symbol of their argument. */
export const ACCENTS: ReadonlySet<string> = new Set(
  "vec hat bar tilde dot ddot widehat widetilde overrightarrow overleftarrow overline underbar".split(" "),
);

/** Switches without an argument and without meaning here. */
export const IGNORED_COMMANDS: ReadonlySet<string> = new Set(
  "displaystyle bf it rm cal tt sf em large Large LARGE small tiny normalsize hline cdotp centering noindent par boldmath strut mathstrut hfill bigskip medskip smallskip newline therefore because".split(
    " ",
  ),
);

export const NUMBER_WORDS: Readonly<Record<string, number>> = {
  zero: 0,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
};
