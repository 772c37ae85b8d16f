import { almanac, drawFigure } from "./almanac.ts";
import type { Generator } from "./generator.ts";
import { codes, projectNames, townNames } from "./names.ts";

/** Sum of numbers on pages that a file names: read the file, search for the pages, open them, calculate. Calls of one turn are independent. */
export const findings: Generator = {
  toolsets: ["files", "web", "calculator"],
  turns: 5,
  generate(random, difficulty) {
    const towns = townNames(random, 4 + difficulty);
    const stops = towns.slice(0, 2 + Math.floor(difficulty / 4));
    const pages = almanac(random, random.shuffle(towns));
    const { measure, year } = drawFigure(random);
    const [tour] = projectNames(random, 1) as [string];
    const [code] = codes(random, 1) as [string];
    const path = `tours/${code}.txt`;
    const values = stops.map((town) => pages.valueOf(town, measure, year));
    return {
      prose: `The file ${path} lists the towns of the tour ${tour}. The almanac on the web has a page for each town. What is the number of ${measure} of these towns in ${year} altogether?`,
      terse: `sum ${measure} ${year} ${path}`,
      answer: String(values.reduce((sum, value) => sum + value, 0)),
      required: ["read_file", "search", "fetch", "calculator"],
      files: { [path]: [`Tour: ${tour}`, "Towns:", ...stops.map((town) => `- ${town}`), ""].join("\n") },
      site: pages.site,
      plan: [
        [{ name: "read_file", arguments: { path } }],
        stops.map((town) => ({ name: "search", arguments: { query: town } })),
        stops.map((town) => ({ name: "fetch", arguments: { url: pages.urlOf(town) } })),
        [{ name: "calculator", arguments: { expression: values.join("+") } }],
      ],
    };
  },
};
