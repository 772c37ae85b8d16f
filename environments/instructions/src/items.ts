import type { RandomStream } from "@mrlm/kit";

/** An item of a shop. */
export type Item = {
  readonly name: string;
  readonly color: string;
  readonly city: string;
  /** Whole number of coins. */
  readonly price: number;
};

/** Property that selected items have. */
export type Condition =
  | { readonly field: "price"; readonly is: "more" | "less"; readonly value: number }
  | { readonly field: "color" | "city"; readonly is: "same" | "other"; readonly value: string };

/** Order in which an answer names the items. */
export type Order = "cheapest first" | "dearest first" | "in the order of the alphabet";

/** Items of a task, and which of them an answer is about. */
export type Selection = {
  readonly items: Item[];
  readonly conditions: Condition[];
  readonly order: Order;
};

const NAMES =
  "lantern kettle blanket mirror basket candle hammer ladder bucket pillow carpet teapot bottle wallet drawer saddle whistle compass lamp clock chair table spoon brush rope bell vase jar tray stool".split(
    " ",
  );
const COLORS = ["red", "blue", "green", "white", "black"];
const CITIES = ["Oslo", "Lima", "Kyoto", "Cairo", "Turin"];
const ORDERS: readonly Order[] = ["cheapest first", "dearest first", "in the order of the alphabet"];

const COMPARE: Readonly<Record<Order, (one: Item, other: Item) => number>> = {
  "cheapest first": (one, other) => one.price - other.price,
  "dearest first": (one, other) => other.price - one.price,
  "in the order of the alphabet": (one, other) => (one.name < other.name ? -1 : 1),
};

/** Returns the items that an answer is about, in the order that is asked for. */
export function selectedOf({ items, conditions, order }: Selection): Item[] {
  return items.filter((item) => conditions.every((each) => holds(each, item))).toSorted(COMPARE[order]);
}

function holds({ field, is, value }: Condition, item: Item): boolean {
  if (field === "price") return is === "more" ? item.price > value : item.price < value;
  return (item[field] === value) === (is === "same");
}

/** Draws items and conditions that two to four items have, and some have not. */
export function drawSelection(
  random: RandomStream,
  size: { readonly items: number; readonly conditions: number },
): Selection {
  for (;;) {
    const prices = random.shuffle(Array.from({ length: 90 }, (_, i) => i + 10));
    const items = random
      .shuffle(NAMES)
      .slice(0, size.items)
      .map((name, i) => ({ name, color: random.pick(COLORS), city: random.pick(CITIES), price: prices[i] as number }));
    const fields = random.shuffle(["price", "color", "city"] as const).slice(0, size.conditions);
    const selection = {
      items,
      conditions: fields.map((field) => drawCondition(random, field, random.pick(items))),
      order: random.pick(ORDERS),
    };
    if (isFit(selection, 4)) return selection;
  }
}

/** Draws the selection of the terse style: names are letters, prices have one digit, and the one condition is about the price. */
export function drawTerse(random: RandomStream, count: number): Selection {
  for (;;) {
    const prices = random.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const items = random
      .shuffle([..."abcdefghijk"])
      .slice(0, count)
      .map((name, i) => ({ name, color: "", city: "", price: prices[i] as number }));
    const selection: Selection = {
      items,
      conditions: [{ field: "price", is: random.pick(["more", "less"] as const), value: random.integer(2, 8) }],
      order: random.pick(ORDERS.slice(0, 2)),
    };
    if (isFit(selection, 3)) return selection;
  }
}

function drawCondition(random: RandomStream, field: Condition["field"], item: Item): Condition {
  if (field !== "price") return { field, is: random.pick(["same", "other"] as const), value: item[field] };
  return { field, is: random.pick(["more", "less"] as const), value: item.price };
}

function isFit(selection: Selection, most: number): boolean {
  const { length } = selectedOf(selection);
  return length >= 2 && length <= Math.min(most, selection.items.length - 1);
}

/** Returns a condition as the end of a sentence about items. */
export function describeCondition({ field, is, value }: Condition): string {
  if (field === "price") return `cost ${is} than ${value} coins`;
  const not = is === "other" ? "not " : "";
  return field === "color" ? `are ${not}${value}` : `were ${not}made in ${value}`;
}
