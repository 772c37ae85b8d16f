/** Verdict of a comparison of `pro` and `con`: for one of them in both orders, by the length of the conversation. */
export function verdictByLength(prompt: string): string {
  const first = /"participants":\{"A":"(pro|con)"/.exec(prompt)?.[1];
  const winner = prompt.length % 2 === 0 ? "pro" : "con";
  const label = winner === first ? "A" : "B";
  return JSON.stringify({
    reasons: "by length",
    scores: { A: label === "A" ? 8 : 3, B: label === "B" ? 8 : 3 },
    winner: label,
  });
}
