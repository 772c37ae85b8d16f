import { PassThrough } from "node:stream";
import { expect, test } from "@jest/globals";
import { terminalSeat } from "../src/person/terminal-seat.ts";

const { signal } = new AbortController();

function seatWith() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "";
  output.on("data", (chunk) => (shown += String(chunk)));
  return { input, seat: terminalSeat(input, output), shown: () => shown };
}

test("lines answer in their order, also those that come before the question; empty ones do not", async () => {
  const { input, seat } = seatWith();
  input.write('one\n\n\ntwo\n"""\na\n\nb\n"""\n"""\n"""\n');
  const answers = [];
  for (let i = 0; i < 4; i++) answers.push(await seat.ask("?", { signal }));
  expect(answers).toEqual(["one", "two", "a\n\nb", ""]);
  const later = seat.ask("?", { signal });
  input.write("three\n");
  expect(await later).toBe("three");
});

test("at a terminal, lines that were typed before a question are no answers to it", async () => {
  const { input, seat } = seatWith();
  Object.assign(input, { isTTY: true });
  input.write("typed ahead\n\n");
  await new Promise(setImmediate);
  const choices = [
    { key: "", label: "none" },
    { key: "1", label: "yours" },
  ];
  const chosen = seat.choose("Which?", { choices, signal });
  await new Promise(setImmediate);
  input.write("1\n");
  expect(await chosen).toBe("1");
});

test("the end of the input leaves, also within a text of several lines", async () => {
  const { input, seat } = seatWith();
  input.end('last\n"""\nunfinished\n');
  expect(await seat.ask("?", { signal })).toBe("last");
  expect(await seat.ask("?", { signal })).toBeUndefined();
  expect(await seat.ask("?", { signal })).toBeUndefined();
});

test("a choice is one of the keys", async () => {
  const { input, seat, shown } = seatWith();
  input.write("3\nyes\n\n");
  const choices = [
    { key: "1", label: "yours" },
    { key: "", label: "none" },
  ];
  expect(await seat.choose("Which?", { choices, signal })).toBe("");
  expect(shown()).toContain("Which? (1: yours, Enter: none)> ");
});

test("a question that is given up rejects, and what is typed later answers the next one", async () => {
  const { input, seat } = seatWith();
  const stop = new AbortController();
  const asked = seat.ask("?", { signal: stop.signal });
  stop.abort();
  await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
  input.write("later\n");
  expect(await seat.ask("?", { signal })).toBe("later");
});

test("what environments and models write cannot control the terminal", () => {
  const { seat, shown } = seatWith();
  seat.observe({ agent: "agent", messages: [{ role: "user", parts: [{ type: "text", text: "\u001b[2J hidden" }] }] });
  expect(shown()).toContain("user: \\u001b[2J hidden");
});
