/** Verdict of the verifier. */

/** `undecided`: the verifier cannot decide, for the stated reason. It does not count as wrong by itself. */
export type Verdict = "equivalent" | "different" | "undecided";

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
  | "budget"
  | "unreadable";

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
