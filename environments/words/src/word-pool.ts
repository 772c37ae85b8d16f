import words from "@nkzw/safe-word-list";

/** Common English words of 3 letters and more, by their length. */
const BY_LENGTH = Map.groupBy(
  words.filter((word) => /^[a-z]+$/.test(word)),
  ({ length }) => length,
);

/** Syllables in place of words of two letters: a consonant and a vowel. English has too few such words. */
const SYLLABLES = [..."bdkmst"].flatMap((consonant) => [..."aeiou"].map((vowel) => consonant + vowel));

/** Returns all words of a length. */
export function wordsOfLength(letters: number): readonly string[] {
  return letters === 2 ? SYLLABLES : (BY_LENGTH.get(letters) ?? []);
}
