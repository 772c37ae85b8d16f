import type { RandomStream } from "@mrlm/kit";

const BANK =
  "ant apple art bear bird boat bread candle cat chair cloud coat corn cup deer desk dog door dust eagle ear earth egg fern fire fish flag frog garden goat grape grass hat hill horse house ice ink iron jar key king kite lake lamp leaf lemon lion map milk moon moss mouse nest night nut oak oat ocean onion otter owl paint paper pear pen pine plum pond queen rain ring river road rock root rope rose sail salt sand seed shell ship shoe snow song star stone sun table tea tent tiger toast tower train tree tulip vase violin wagon wall water wave wheat wind wolf wood yard zebra";

export const WORDS: readonly string[] = BANK.split(" ");

/** Draws words, some repeated. */
export function drawWords(random: RandomStream, least = 1): string[] {
  const pool = random.shuffle(WORDS).slice(0, random.integer(3, 9));
  return Array.from({ length: random.integer(least, 9) }, () => random.pick(pool));
}

export function drawSentence(random: RandomStream): string {
  return drawWords(random).join(random.next() < 0.15 ? "  " : " ");
}

/** Compares ASCII texts as both languages do. */
export function byCode(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
