import { markerPattern } from "./marker-pattern.ts";
import type { TextTokenizer } from "./tokenizer.ts";

/** Greatest number of characters whose tokens are kept. */
const MAX_CHARACTERS = 2 ** 22;

/**
 * Returns the encoder of a tokenizer that keeps the tokens of the messages of a conversation, so that a longer one is encoded from where it differs. The result
 * is that of the tokenizer: a text is divided only after stop tokens at which the tokenizer divides it too.
 */
export function messageEncoder(tokenizer: TextTokenizer, stops: readonly string[]): (text: string) => Int32Array {
  const ends = stops.filter((stop) => tokenizer.divides(stop));
  const known = new Map<string, Int32Array>();
  let characters = 0;
  const encode = (piece: string): Int32Array => {
    const found = known.get(piece);
    if (found !== undefined) return found;
    const tokens = tokenizer.encode(piece);
    known.set(piece, tokens);
    characters += piece.length;
    for (const oldest of known.keys()) {
      if (characters <= MAX_CHARACTERS) break;
      known.delete(oldest);
      characters -= oldest.length;
    }
    return tokens;
  };
  return (text) => {
    const places = ends.length === 0 ? [] : [...text.matchAll(markerPattern(ends))];
    const pieces: Int32Array[] = [];
    let at = 0;
    for (const next of [...places.map(({ 0: end, index }) => index + end.length), text.length]) {
      if (next > at) pieces.push(encode(text.slice(at, next)));
      at = next;
    }
    const whole = new Int32Array(pieces.reduce((sum, { length }) => sum + length, 0));
    at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  };
}
