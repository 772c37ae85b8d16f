import type { RandomStream } from "@mrlm/kit";
import type { Files } from "../task.ts";
import { codes } from "./names.ts";

const MEASURES = { visitors: "Visitors", residents: "Residents", trains: "Trains" } as const;
export type Measure = keyof typeof MEASURES;

const YEARS = [2017, 2018, 2019, 2020, 2021, 2022] as const;

/** Site with a page for each town. */
export interface Almanac {
  readonly site: Files;
  urlOf(town: string): string;
  valueOf(town: string, measure: Measure, year: number): number;
}

/** Draws a measure and a year. */
export function drawFigure(random: RandomStream): { readonly measure: Measure; readonly year: number } {
  return { measure: random.pick(Object.keys(MEASURES) as Measure[]), year: random.pick(YEARS) };
}

/** Creates a site. URLs cannot be guessed from names of towns: they must be searched. */
export function almanac(random: RandomStream, towns: readonly string[]): Almanac {
  const slugs = codes(random, towns.length);
  const urls = new Map(towns.map((town, i) => [town, `https://almanac.example/towns/${slugs[i]}`]));
  const values = new Map<string, number>();
  for (const town of towns)
    for (const measure of Object.keys(MEASURES) as Measure[])
      for (const year of YEARS) values.set(`${town}/${measure}/${year}`, random.integer(1_000, 99_999));
  const valueOf: Almanac["valueOf"] = (town, measure, year) => values.get(`${town}/${measure}/${year}`) as number;
  const pages = towns.map((town) => ({
    url: urls.get(town),
    title: `${town}, a town in the almanac`,
    html: pageOf(town, (measure, year) => valueOf(town, measure, year)),
  }));
  return {
    site: { "pages.jsonl": pages.map((page) => JSON.stringify(page)).join("\n") },
    urlOf: (town) => urls.get(town) as string,
    valueOf,
  };
}

function pageOf(town: string, valueOf: (measure: Measure, year: number) => number): string {
  const rows = Object.entries(MEASURES).map(
    ([measure, label]) =>
      `<tr><td>${label}</td>${YEARS.map((year) => `<td>${valueOf(measure as Measure, year)}</td>`).join("")}</tr>`,
  );
  return [
    `<!doctype html><html><head><title>${town}, a town in the almanac</title><script>track("${town}")</script></head><body>`,
    "<nav><a href=/>Towns</a> <a href=/about>About</a></nav>",
    `<main><h1>${town}</h1><p>The figures of ${town} by year: residents, trains and visitors.</p>`,
    `<table><tr><th>Figure</th>${YEARS.map((year) => `<th>${year}</th>`).join("")}</tr>${rows.join("")}</table></main>`,
    "</body></html>",
  ].join("\n");
}
