import { expect, test } from "@jest/globals";
import { abandonSessions } from "./support/abandoned-sessions.ts";

test("abandoned sessions end with their leases, also those with a step under way and those of a client that stays", async () => {
  const { after } = await abandonSessions(60, 1, 500);
  expect(after[0]).toMatchObject({ environments: 0, stats: { sessions: 0, opened: 120, streams: 0 } });
});
