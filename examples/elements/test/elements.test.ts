import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { environmentContract } from "@mrlm/testing";
import plugin from "../elements.ts";

// The contract runs in process and over gRPC.
environmentContract({ plugins: [plugin], environment: "elements" });

test("U12: the guide shows this environment as it stands", () => {
  const [source, guide] = ["../elements.ts", "../../../docs/build/environments.md"].map((path) =>
    readFileSync(new URL(path, import.meta.url), "utf8"),
  ) as [string, string];
  const lines = new Set(source.split("\n").map((line) => line.trim()));
  const shown = [...guide.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, code]) => code as string)
    .filter((code) => /attempts|readJsonl/.test(code));
  expect(shown).toHaveLength(4);
  for (const line of shown.flatMap((code) => code.split("// test/")[0]?.split("\n") ?? []))
    if (!line.trim().startsWith("//")) expect(lines).toContain(line.trim());
});
