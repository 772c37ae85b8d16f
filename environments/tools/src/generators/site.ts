import { almanac, drawFigure } from "./almanac.ts";
import type { Generator } from "./generator.ts";
import { townNames } from "./names.ts";

/** One number in the table of one page of a site: search for the page, then open it. */
export const site: Generator = {
  toolsets: ["web"],
  turns: 3,
  generate(random, difficulty) {
    const towns = townNames(random, 2 + difficulty);
    const pages = almanac(random, towns);
    const { measure, year } = drawFigure(random);
    const town = random.pick(towns);
    return {
      prose: `The almanac on the web has a page for each town. What is the number of ${measure} of ${town} in ${year}?`,
      terse: `${measure} of ${town} in ${year}`,
      answer: String(pages.valueOf(town, measure, year)),
      required: ["search", "fetch"],
      site: pages.site,
      plan: [
        [{ name: "search", arguments: { query: town } }],
        [{ name: "fetch", arguments: { url: pages.urlOf(town) } }],
      ],
    };
  },
};
