/** Roles in the order of their turns. */
export const SIDES = ["pro", "con"] as const;
export type Side = (typeof SIDES)[number];

export function otherSide(side: Side): Side {
  return side === "pro" ? "con" : "pro";
}
