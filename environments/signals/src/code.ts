const FIRST_LETTER = "a".charCodeAt(0);

/** Returns the symbol of an index from 0: `a`, `b`, ... */
export function symbolAt(index: number): string {
  return String.fromCharCode(FIRST_LETTER + index);
}

/** Returns the index of the symbol of a message: its one letter, with any punctuation. `undefined` if there is none, or it is beyond `symbols`. */
export function symbolOf(text: string, symbols: number): number | undefined {
  const letter = /^[^\p{L}\p{N}]*([a-z])[^\p{L}\p{N}]*$/iu.exec(text)?.[1];
  const index = letter === undefined ? undefined : letter.toLowerCase().charCodeAt(0) - FIRST_LETTER;
  return index !== undefined && index < symbols ? index : undefined;
}

/** Returns the meaning of a message: its one number, from 1. `undefined` if there is none, several, or one beyond `meanings`. */
export function meaningOf(text: string, meanings: number): number | undefined {
  const [digits, ...others] = text.match(/\d+/g) ?? [];
  const meaning = Number(digits);
  return others.length === 0 && meaning >= 1 && meaning <= meanings ? meaning : undefined;
}
