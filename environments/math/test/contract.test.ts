import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { scorerPlugin } from "./support/math-scorer.ts";

const plugins = [plugin, await scorerPlugin()];

environmentContract({
  plugins,
  environment: "math@2",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
});

const directory = mkdtempSync(join(tmpdir(), "mrlm-math-"));
const path = join(directory, "problems.jsonl");
const rows = Array.from({ length: 60 }, (_, i) => ({
  id: `row-${i}`,
  query: `What is ${i} + ${i}?`,
  answer: `${2 * i}`,
  scorer: "math@2",
}));
writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Tests that play a fixture, with its options for generators. */
const ABOUT_FIXTURES =
  /^(?:fixture |in process$|is not stepped |an episode (?:is the same|continues) |another task or seed |episodes do not change |a gold fixture |gold fixtures |programs that solve nothing |reset and step end )/;

// The fixtures are about generated problems; everything else holds for those of a file as well.
describe("with problems of a file", () => {
  environmentContract({
    plugins,
    environment: "math@2",
    options: { data: { path } },
    transports: { "in process": inProcess },
    registry: {
      describe,
      test: (name, body, timeoutMs) => void (ABOUT_FIXTURES.test(name) || test(name, body, timeoutMs)),
    },
  });
});
