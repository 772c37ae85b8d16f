/** Verdict of the verifier. */

/**
 * `not-computed`: equivalent, but operations are left to do, or a copy of the question. `unreadable`: the answer cannot be read. `undecided`: both sides were
 * read, and no method decides. `bad-reference`: the reference cannot be read, or takes more than half of the budget beside itself; the policy did not cause it.
 */
export type Verdict = "equivalent" | "different" | "not-computed" | "unreadable" | "undecided" | "bad-reference";

/** Method that decided. */
export type Method =
  | "identical"
  | "exact"
  | "rounding"
  | "tolerance"
  | "normal form"
  | "finite field"
  | "numeric"
  | "structure"
  | "relation"
  | "real set"
  | "units"
  | "choice"
  | "text"
  | "extraction"
  | "form"
  | "budget"
  | "reading";

export type Outcome = { readonly verdict: Verdict; readonly method: Method; readonly reason: string };

export function equivalent(method: Method, reason: string): Outcome {
  return { verdict: "equivalent", method, reason };
}

export function different(method: Method, reason: string): Outcome {
  return { verdict: "different", method, reason };
}

export function undecided(method: Method, reason: string): Outcome {
  return { verdict: "undecided", method, reason };
}

export function notComputed(reason: string): Outcome {
  return { verdict: "not-computed", method: "form", reason };
}

export function unreadable(method: Method, reason: string): Outcome {
  return { verdict: "unreadable", method, reason: `the answer cannot be read: ${reason}` };
}

export function badReference(method: Method, reason: string): Outcome {
  return { verdict: "bad-reference", method, reason };
}
