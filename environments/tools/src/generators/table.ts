import type { Generator } from "./generator.ts";
import { codes } from "./names.ts";

const REGIONS = ["East", "North", "South", "West"];
const PRODUCTS = ["Chairs", "Desks", "Doors", "Lamps", "Shelves", "Tables"];

/** Sum of products over the rows of a table that belong to a region: read the file, then calculate. */
export const table: Generator = {
  toolsets: ["files", "calculator"],
  turns: 3,
  generate(random, difficulty) {
    const [name] = codes(random, 1) as [string];
    const path = `tables/orders-${name}.csv`;
    const region = random.pick(REGIONS);
    const orders = Array.from({ length: 5 + 2 * difficulty }, (_, i) => ({
      // The first two rows are of the region, so that there is always a sum.
      region: i < 2 ? region : random.pick(REGIONS),
      product: random.pick(PRODUCTS),
      units: random.integer(12, 99 * difficulty),
      price: random.integer(101, 999 * difficulty),
    }));
    const rows = random.shuffle(orders);
    const chosen = rows.filter((order) => order.region === region);
    return {
      prose: `The file ${path} lists orders. What is the total of units times price over the orders of the region ${region}?`,
      terse: `sum units*price ${region} ${path}`,
      answer: String(chosen.reduce((sum, { units, price }) => sum + units * price, 0)),
      required: ["read_file", "calculator"],
      files: {
        [path]: [
          "order,region,product,units,price",
          ...rows.map((order, i) => [i + 1, order.region, order.product, order.units, order.price].join(",")),
          "",
        ].join("\n"),
      },
      plan: [
        [{ name: "read_file", arguments: { path } }],
        [
          {
            name: "calculator",
            arguments: { expression: chosen.map(({ units, price }) => `${units}*${price}`).join("+") },
          },
        ],
      ],
    };
  },
};
