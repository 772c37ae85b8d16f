import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { cloneNodes, createElement, elementsBelow, type Replacement, rewriteTree, textOf } from "./dom.ts";

/** Cells that the spans of one page may add, and columns that one cell may span. */
const MAX_ADDED_CELLS = 20_000;
const MAX_SPAN_COLUMNS = 100;
/** A longer cell over several rows stands in the first row only. */
const MAX_REPEATED_CHARACTERS = 100;

const ROW_GROUPS = new Set(["thead", "tbody", "tfoot"]);
const LAYOUT_CONTENT = new Set(["table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote"]);

/**
 * Makes every table a grid with one header row, as Markdown needs it. A table for layout (with one column, or with tables or headings inside and no
 * header cells) becomes a sequence of blocks. A table inside a cell of another becomes text. A cell over several rows is repeated in each; one over several
 * columns is followed by empty cells.
 */
export function flattenTables(root: ParentNode): void {
  const budget = { cells: MAX_ADDED_CELLS };
  rewriteTree(root, (node) => {
    if (!(node instanceof Element) || node.name !== "table") return [node];
    const rows = rowsOf(node);
    return isLayout(node, rows) ? [toBlocks(node, rows)] : toGrid(node, rows, budget);
  });
}

const children = (node: ParentNode, ...names: string[]): Element[] =>
  node.children.filter((child): child is Element => child instanceof Element && names.includes(child.name));
const cellsOf = (row: Element): Element[] => children(row, "td", "th");
/** Rows of a table itself, without those of tables inside. */
const rowsOf = (table: Element): Element[] =>
  children(table, "tr", ...ROW_GROUPS).flatMap((child) => (child.name === "tr" ? [child] : children(child, "tr")));

function isLayout(table: Element, rows: readonly Element[]): boolean {
  if (/^(presentation|none)$/i.test(table.attribs["role"] ?? "")) return true;
  if (rows.every((row) => cellsOf(row).length <= 1)) return true;
  const hasHeader = rows.some((row) => children(row, "th").length > 0);
  return !hasHeader && elementsBelow(table, LAYOUT_CONTENT).length > 0;
}

function toBlocks(table: Element, rows: readonly Element[]): Element {
  const caption = children(table, "caption").map((one) => createElement("div", {}, one.children));
  return createElement("div", {}, [
    ...caption,
    ...rows.flatMap((row) => cellsOf(row).map((cell) => createElement("div", {}, cell.children))),
  ]);
}

function toGrid(table: Element, rows: readonly Element[], budget: { cells: number }): Replacement {
  const caption = children(table, "caption").map((one) => createElement("p", {}, one.children));
  for (const row of rows) {
    for (const cell of cellsOf(row)) {
      rewriteTree(cell, (node) =>
        node instanceof Element && node.name === "table" ? [new Text(tableText(node))] : [node],
      );
    }
  }
  const [first] = rows;
  const hasHeader =
    first !== undefined && ((first.parent as Element).name === "thead" || children(first, "td").length === 0);
  const grid = gridOf(rows, budget);
  const width = grid.reduce((most, { length }) => Math.max(most, length), 0);
  const header = hasHeader ? (grid.shift() ?? []) : [];
  while (header.length < width) header.push(undefined);
  const line = (name: "td" | "th", cells: readonly (Cell | undefined)[]): Element =>
    createElement(
      "tr",
      {},
      cells.map((cell) => createElement(name, cell?.align ?? {}, cell?.content() ?? [])),
    );
  const body = createElement(
    "tbody",
    {},
    grid.map((cells) => line("td", cells)),
  );
  return [...caption, createElement("table", {}, [createElement("thead", {}, [line("th", header)]), body])];
}

interface Cell {
  readonly align: Record<string, string>;
  readonly content: () => readonly ChildNode[];
}

/** Cells by row and column, with spans resolved. */
function gridOf(rows: readonly Element[], budget: { cells: number }): (Cell | undefined)[][] {
  /** By column: cell of an earlier row, and the number of further rows that it covers. */
  const above: ({ cell: Cell | undefined; rows: number } | undefined)[] = [];
  return rows.map((row) => {
    const line: (Cell | undefined)[] = [];
    const fill = (): void => {
      for (let up = above[line.length]; up !== undefined && up.rows > 0 && budget.cells > 0; up = above[line.length]) {
        up.rows--;
        budget.cells--;
        line.push(up.cell);
      }
    };
    for (const source of cellsOf(row)) {
      fill();
      const { align, rowspan, colspan } = source.attribs;
      const isRepeated = textOf(source).length <= MAX_REPEATED_CHARACTERS;
      const attributes: Record<string, string> = align === undefined ? {} : { align };
      const copy: Cell = { align: attributes, content: () => cloneNodes(source.children) };
      const down = spanOf(rowspan) - 1;
      above[line.length] = down > 0 ? { cell: isRepeated ? copy : undefined, rows: down } : undefined;
      line.push(down > 0 && isRepeated ? copy : { align: attributes, content: () => source.children });
      for (let more = Math.min(spanOf(colspan), MAX_SPAN_COLUMNS) - 1; more > 0 && budget.cells > 0; more--) {
        budget.cells--;
        line.push(undefined);
      }
    }
    fill();
    return line;
  });
}

function spanOf(text: string | undefined): number {
  const value = Number.parseInt(text ?? "1", 10);
  return value > 1 ? value : 1;
}

/** Text of a table inside a cell: cells are separated by commas, rows by semicolons. */
function tableText(table: Element): string {
  const lines = elementsBelow(table, new Set(["tr"])).map((row) => {
    const cells = cellsOf(row).map((cell) => textOf(cell).trim());
    return cells.filter((text) => text !== "").join(", ");
  });
  return lines.filter((line) => line !== "").join("; ");
}
