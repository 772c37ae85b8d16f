import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { environmentContract } from "@mrlm/testing";
import plugin from "../reverse.ts";

// The contract runs in process and over gRPC.
environmentContract({ plugins: [plugin], environment: "reverse" });

test("the guide shows this environment as it stands", () => {
  const source = readFileSync(new URL("../reverse.ts", import.meta.url), "utf8");
  expect(readFileSync(new URL("../../../docs/build/environments.md", import.meta.url), "utf8")).toContain(
    `\`\`\`ts\n${source}\`\`\``,
  );
});
