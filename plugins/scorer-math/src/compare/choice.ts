/** Multiple choice: a letter, alone or before the text of the choice. */

export type Choice = { readonly letter: string; readonly rest: string };

const CHOICE =
  /^(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s*)?(?:\(\s*([A-Ja-j])\s*\)(?=$|[\s.:])|([A-J])(?=$|[.):]\s|[.):]$))[.):]?\s*([\s\S]*)$/;

/** Returns the letter of a choice and what follows it; undefined when the text is no choice. */
export function asChoice(source: string): Choice | undefined {
  if (source.length > 300) return undefined;
  const bare = source
    .replace(/\\(?:text|textbf|mathrm|mathbf|textrm|mbox|rm|bf)\s*\{(\s*\(?[A-J]\)?[.:]?\s*)\}/g, "$1")
    .replace(/(?<=[A-J]\)?[.:]?)(?:\\[,;:! ]|~|\\quad|\\qquad)/g, " ")
    .replace(/^\s*\$|\$\s*$/g, "")
    .replace(/^(.{1,20}?)\s+is\s+(?:the\s+)?(?:correct|right)(?:\s+(?:answer|choice|option|one))?[.\s]*$/i, "$1")
    .trim();
  const match = CHOICE.exec(bare);
  if (!match || /\(\s*[a-j]\s*\)|(?:^|\s)[A-J](?:[).:]|\s*$)|^(?:or|and|is)\b/i.test(match[3] ?? "")) return undefined;
  return { letter: ((match[1] ?? match[2]) as string).toUpperCase(), rest: (match[3] ?? "").replace(/[.\s]+$/, "") };
}
