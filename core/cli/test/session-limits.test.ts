import { expect, test } from "@jest/globals";
import { declareServe, type ServeOptions } from "../src/declarations/serve.ts";
import { type LimitKeys, sessionLimits } from "../src/services/session-limits.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

const offered = ["math@1", "code@1", "code@2"];
const limits = (options: GivenOptions<ServeOptions>, keys: LimitKeys = {}, isOwn = false) =>
  sessionLimits(parseOptions(declareServe, options), keys, { offered, isOwn });

test("flags limit the sessions in all, of environments and of clients, and the configuration is their default", () => {
  const keys = {
    max_sessions: 7,
    max_sessions_by_environment: { math: 3, code: 2 },
    max_sessions_per_client: 4,
    max_queue: 6,
    queue_seconds: 0.5,
    lease_seconds: 30,
    drain_seconds: 3,
  };
  expect(limits({}, keys)).toMatchObject({
    maxSessions: 7,
    maxSessionsByEnvironment: { "math@1": 3, "code@2": 2 },
    maxSessionsPerClient: 4,
    maxQueue: 6,
    queueMs: 500,
    leaseMs: 30_000,
    drainMs: 3_000,
  });
  const options = {
    maxSessions: ["50", "100", "math=20, code@1=5"],
    maxSessionsPerClient: "9",
    maxQueue: "8",
    queueSeconds: "2",
    leaseSeconds: "90",
    drainSeconds: "5",
  };
  expect(limits(options, keys)).toMatchObject({
    maxSessions: 100,
    maxSessionsByEnvironment: { "math@1": 20, "code@1": 5, "code@2": 2 },
    maxSessionsPerClient: 9,
    maxQueue: 8,
    queueMs: 2_000,
    leaseMs: 90_000,
    drainMs: 5_000,
  });
});

test("a run gets all places of the server that it starts, and no other client", () => {
  expect(limits({}).maxSessionsPerClient).toBeUndefined();
  expect(limits({}, {}, true).maxSessionsPerClient).toBe(4096);
  expect(limits({ maxSessionsPerClient: "5" }, {}, true).maxSessionsPerClient).toBe(5);
});

test.each<[GivenOptions<ServeOptions>, string, string]>([
  [{ maxSessions: ["0"] }, "USAGE", "--max-sessions 0 is not a whole number of 1 or more"],
  [{ maxSessions: ["math=0"] }, "USAGE", "--max-sessions math= 0 is not"],
  [{ maxSessions: ["math=5=6"] }, "USAGE", "--max-sessions math= 5=6 is not"],
  [{ maxSessions: ["many"] }, "USAGE", "--max-sessions many is not"],
  [{ maxSessions: [""] }, "USAGE", "--max-sessions  is not"],
  [{ maxSessions: ["mth=3"] }, "ENVIRONMENT_NOT_FOUND", '"mth", which is not served here. Did you mean "math"?'],
  [{ maxSessionsPerClient: "-1" }, "USAGE", "--max-sessions-per-client -1"],
  [{ maxQueue: "1.5" }, "USAGE", "--max-queue 1.5"],
  [{ queueSeconds: "soon" }, "USAGE", "--queue-seconds soon is not a number of 0 or more"],
  [{ leaseSeconds: "0.5" }, "USAGE", "--lease-seconds 0.5 is below 1"],
  [{ drainSeconds: "1e9" }, "USAGE", "--drain-seconds 1000000000 is above 2147483"],
])("a wrong limit is refused: %j", (options, code, message) => {
  expect(() => limits(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
});
