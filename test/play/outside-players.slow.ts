import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import type { BigramOutcome } from "@mrlm/testing";
import type { EndpointFault } from "./support/faulty-endpoint.ts";
import { faultsOfRun, KEY_NAME, trainAgainst, trainWithoutFaults } from "./support/outside-run.ts";

let clean: BigramOutcome;
beforeAll(async () => {
  clean = await trainWithoutFaults();
});

test.each(["killed", "no answer", "slow", "rate-limited", "rate-limited for a moment", "HTML"])(
  "an endpoint as the opponent, %s: training continues, each failure is counted with its code, and nothing else changes",
  async (name) => {
    expect(await faultsOfRun(name, 1, clean)).toEqual([]);
  },
);

test("a server that quotes the key in its answers does not get it into a file, a message or a notice of the run", async () => {
  process.env[KEY_NAME] = "sk-quoted-0123";
  const quote: EndpointFault["apply"] = (response) =>
    void response.writeHead(400).end(JSON.stringify({ error: { message: response.req.headers.authorization } }));
  try {
    const { summary, played } = await trainAgainst({ apply: quote }, 0.5);
    const messages = played.flat().flatMap(({ trajectories }) => trajectories.flatMap(({ error }) => error ?? []));
    expect(messages[0]).toEqual({
      code: "ENDPOINT_REQUEST_REFUSED",
      message: expect.stringContaining("Bearer [hidden]"),
    });
    const files = readdirSync(summary.directory, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    const written = files.map((each) => readFileSync(join(each.parentPath, each.name), "latin1"));
    expect(written.some((text) => text.includes(KEY_NAME))).toBe(true);
    expect(written.some((text) => text.includes("[hidden]"))).toBe(true);
    expect([...written, JSON.stringify(messages)].filter((text) => text.includes("sk-quoted"))).toEqual([]);
  } finally {
    delete process.env[KEY_NAME];
  }
});
