/** Form in which a text can stand in another. */
export interface TextForm {
  /** After "as" in a message. */
  readonly name: string;
  /** Returns the text in which a hidden one stands as it is. */
  read(text: string): string;
  /** Removes a hidden text. */
  without(text: string, hidden: string): string;
}

const reverse = (text: string): string => [...text].reverse().join("");
const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });

/** A text that is written letter by letter in another way. */
function rewritten(name: string, change: (text: string) => string): TextForm {
  return { name, read: change, without: (text, hidden) => text.replaceAll(change(hidden), "") };
}

/** Words of an encoding. */
function encoded(name: string, words: RegExp, encoding: "base64" | "hex"): TextForm {
  const decode = (word: string): string => Buffer.from(word, encoding).toString("utf8");
  return {
    name,
    read: (text) => (text.match(words) ?? []).map(decode).join("\n"),
    without: (text, hidden) => text.replace(words, (word) => (decode(word).includes(hidden) ? "" : word)),
  };
}

export const AS_IT_IS: TextForm = rewritten("as it is", (text) => text);

/** Forms that hide a text from a reader, and not from a model. */
export const HIDING_FORMS: readonly TextForm[] = [
  rewritten("backwards", reverse),
  rewritten("in ROT13", rot13),
  encoded("in base64", /[\w+/-]{4,}/g, "base64"),
  encoded("in hexadecimal", /(?:[\da-f]{2}){3,}/gi, "hex"),
];
