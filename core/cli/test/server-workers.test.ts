import { rmSync } from "node:fs";
import { afterAll, expect, test } from "@jest/globals";
import { lethalProject } from "./support/lethal-project.ts";
import { act, begin, workerServer } from "./support/worker-server.ts";

const directory = lethalProject();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a session that ends its worker ends with its plugin, version and exit code; the others can be restored", async () => {
  const server = await workerServer(directory);
  try {
    const t = performance.now();
    for (const way of ["exit", "abort", "kill", "throw", "reject", "exitLater"]) {
      const [calm, lethal] = [await begin(server.host, "calm"), await begin(server.host, "lethal")];
      const waits = act(calm, "forever");
      expect(await act(lethal, "go")).toBe("step 0");
      console.log(way, await act(lethal, way), "|", await waits, performance.now() - t);
    }
    console.log(server.lines.join("\n"));
  } finally {
    await server.close();
  }
}, 60_000);
