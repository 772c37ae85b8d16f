/** Tokens of an answer and the tables that name them. */
import type { RelationOperator } from "../tree/node.ts";
import { table } from "../table.ts";
import type { Literal } from "./literal.ts";

export type TokenKind = "number" | "letter" | "word" | "text" | "command" | "operator" | "relation" | "end";

/**
 * `value` is the character, command name, word or text. `start` and `end` are offsets in the cleaned source;
 * `hasSpace`: white space precedes the token.
 */
export type Token = {
  readonly kind: TokenKind;
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly hasSpace: boolean;
  readonly number?: Literal;
};

export const RELATION_COMMANDS: Readonly<Record<string, RelationOperator>> = table({
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
});

/** Commands that name a one-letter-like symbol. */
export const GREEK: ReadonlySet<string> = new Set(
  (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega " +
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar nabla partial aleph"
  ).split(" "),
);

/** Functions of one argument, with or without brackets, by the name that the tree uses. */
export const FUNCTIONS: Readonly<Record<string, string>> = table({
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
  cis: "cis",
});

/** Markup whose one argument is words. */
export const TEXT_COMMANDS: ReadonlySet<string> = new Set(
  "text textbf textit textrm textnormal textsf texttt textup textsc mbox hbox mathrm rm emph fbox mathsf mathtt operatorname operatorname* underline".split(
    " ",
  ),
);

/** Markup whose one argument is mathematics and that changes nothing. */
export const TRANSPARENT_COMMANDS: ReadonlySet<string> = new Set(
  "mathbf boldsymbol bm mathit mathcal mathscr mathfrak boxed bold ensuremath smash mathop mathord mathbin mathrel cancel".split(
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
