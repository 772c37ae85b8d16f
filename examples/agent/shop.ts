import { randomStream } from "@mrlm/kit";

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** Returns the article of an order: three or four digits to two letters. */
export function articleOf(order: string): string {
  const random = randomStream("article", Number(order));
  return random.pick(LETTERS) + random.pick(LETTERS);
}

/** Returns the price of an article: two digits. */
export function priceOf(article: string): string {
  return String(randomStream(`price of ${article}`, 0).integer(10, 99));
}
