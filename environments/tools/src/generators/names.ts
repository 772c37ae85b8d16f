import type { RandomStream } from "@mrlm/kit";

const ADJECTIVES =
  "Amber Ashen Brisk Cobalt Copper Crimson Distant Dusky Early Gentle Gilded Hidden Hollow Ivory Late Lunar Misty Narrow Northern Pale Quiet Rapid Russet Sable Scarlet Silver Solar Steady Tidal Velvet".split(
    " ",
  );
const NOUNS =
  "Anchor Badger Beacon Bridge Canyon Cedar Comet Falcon Ferry Garden Glacier Harbor Heron Lantern Ledger Maple Meadow Mill Orchard Osprey Pebble Prairie Quarry Raven River Sparrow Summit Thicket Tower Willow".split(
    " ",
  );
const BEGINNINGS = "Ar Bel Cor Dun El Fen Gar Hal Il Kes Lor Mar Nor Or Pel Quin Ros Sel Tar Val Wes Yar".split(" ");
const ENDINGS = "bourne by dale den field ford gate ham holm mere moor stead ston wick wold".split(" ");

/** Draws different names of projects: `Amber Heron`. */
export function projectNames(random: RandomStream, count: number): string[] {
  return different(random, count, () => `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`);
}

/** Draws different names of towns: `Belmoor`. No name begins with another one. */
export function townNames(random: RandomStream, count: number): string[] {
  return different(random, count, () => random.pick(BEGINNINGS) + random.pick(ENDINGS));
}

/** Draws different short codes, from which nothing can be guessed: `k7x2`. */
export function codes(random: RandomStream, count: number): string[] {
  const digit = (): string => random.integer(0, 35).toString(36);
  return different(random, count, () => digit() + digit() + digit() + digit());
}

function different(random: RandomStream, count: number, draw: () => string): string[] {
  const drawn = new Set<string>();
  while (drawn.size < count) drawn.add(draw());
  return random.shuffle([...drawn]);
}
