import { afterAll, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import fc from "fast-check";
import { Admission, type AdmissionLimits, type Applicant } from "../src/sessions/admission.ts";

const end = new AbortController();
const never = end.signal;
// Timers of applicants that still wait would keep the process.
afterAll(() => end.abort(new Error("the end of the tests")));
const unlimited: AdmissionLimits = { places: 4, placesPerClient: 4, queue: 100, queueMs: 60_000 };
const of = (client: string, environment = "a@1"): Applicant => ({ client, environment });

/** Lets the promises that are settled run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Applies, and returns the clients in the order in which they enter. */
function applying(admission: Admission): { entered: string[]; apply: (applicant: Applicant) => void } {
  const entered: string[] = [];
  const apply = (applicant: Applicant): void =>
    void admission.enter(applicant, never).then(
      () => entered.push(applicant.client),
      () => entered.push(`no ${applicant.client}`),
    );
  return { entered, apply };
}

test("places are granted to the clients in turn: one with many applicants does not delay one with few", async () => {
  const admission = new Admission({ ...unlimited, places: 1 });
  const { entered, apply } = applying(admission);
  for (let i = 0; i < 50; i++) apply(of("many"));
  for (let i = 0; i < 3; i++) apply(of("few"));
  for (let i = 0; i < 8; i++) {
    await settle();
    admission.leave(of(entered.at(-1) as string));
  }
  await settle();
  expect(entered.slice(1, 8)).toEqual(["many", "few", "many", "few", "many", "few", "many"]);
});

test("a client at its limit and a full environment delay no other", async () => {
  const admission = new Admission({ ...unlimited, placesPerClient: 2, placesByEnvironment: { "b@1": 1 } });
  const { entered, apply } = applying(admission);
  for (let i = 0; i < 5; i++) apply(of("first"));
  apply(of("second", "b@1"));
  apply(of("third", "b@1"));
  apply(of("third", "a@1"));
  await settle();
  expect(entered).toEqual(["first", "first", "second", "third"]);
  expect([admission.use(), admission.use("b@1")]).toEqual([
    { sessions: 4, queued: 4 },
    { sessions: 1, queued: 1 },
  ]);
  admission.leave(of("second", "b@1"));
  await settle();
  expect(entered.at(-1)).toBe("third");
});

test("a full queue refuses the newest applicant of the client with the most, with the limit that it met", async () => {
  const admission = new Admission({ ...unlimited, places: 1, queue: 3 });
  const { entered, apply } = applying(admission);
  for (let i = 0; i < 4; i++) apply(of("many"));
  apply(of("few"));
  await settle();
  expect(entered).toEqual(["many", "no many"]);
  const refused = await admission.enter(of("many"), never).catch((error: unknown) => error as MrlmError);
  expect(refused).toMatchObject({
    code: "RESOURCE_EXHAUSTED",
    message: "The server holds its maximum of 1 sessions, and 3 more wait.",
  });
});

test("retry delays differ, around the longest wait", async () => {
  const admission = new Admission({ ...unlimited, places: 0, queue: 0, queueMs: 30_000 });
  const delays = await Promise.all(
    Array.from({ length: 200 }, () =>
      admission.enter(of("a"), never).catch((error: unknown) => (error as MrlmError).retryDelayMs),
    ),
  );
  expect(new Set(delays).size).toBeGreaterThan(100);
  for (const delay of delays) {
    expect(delay).toBeGreaterThanOrEqual(2_500);
    expect(delay).toBeLessThanOrEqual(7_500);
  }
});

test("an applicant that gives up in the turn in which a place becomes free does not keep it", async () => {
  const admission = new Admission({ ...unlimited, places: 1 });
  await admission.enter(of("a"), never);
  const gone = new AbortController();
  const waiting = admission.enter(of("b"), gone.signal);
  gone.abort(new MrlmError("CANCELLED", "The test gives up."));
  admission.leave(of("a"));
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  expect(admission.use()).toEqual({ sessions: 0, queued: 0 });
});

test("limits hold, no applicant waits that could enter, and no place is lost, in any order of events", async () => {
  const limits = { places: 5, placesPerClient: 3, placesByEnvironment: { "b@1": 2 }, queue: 6, queueMs: 60_000 };
  const applicant = fc.record({ client: fc.constantFrom("x", "y", "z"), environment: fc.constantFrom("a@1", "b@1") });
  const event = fc.oneof(
    { weight: 3, arbitrary: applicant.map((each) => ({ kind: "enter" as const, applicant: each })) },
    { weight: 2, arbitrary: fc.nat(9).map((nth) => ({ kind: "leave" as const, nth })) },
    { weight: 1, arbitrary: fc.nat(9).map((nth) => ({ kind: "abort" as const, nth })) },
    { weight: 2, arbitrary: fc.constant({ kind: "settle" as const }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
      const admission = new Admission(limits);
      const inside: Applicant[] = [];
      const waiting = new Map<AbortController, Applicant>();
      for (const each of events) {
        if (each.kind === "enter") {
          const controller = new AbortController();
          waiting.set(controller, each.applicant);
          admission
            .enter(each.applicant, controller.signal)
            .then(
              () => void inside.push(each.applicant),
              () => undefined,
            )
            .finally(() => waiting.delete(controller));
        } else if (each.kind === "leave") {
          const [left] = inside.splice(each.nth % Math.max(1, inside.length), 1);
          if (left !== undefined) admission.leave(left);
        } else if (each.kind === "abort") [...waiting.keys()][each.nth]?.abort(new Error("gives up"));
        else await settle();
      }
      await settle();
      const count = (those: Iterable<Applicant>, has: (each: Applicant) => boolean): number =>
        [...those].filter(has).length;
      const free = (each: Applicant): boolean =>
        inside.length < limits.places &&
        count(inside, ({ client }) => client === each.client) < limits.placesPerClient &&
        (each.environment !== "b@1" || count(inside, ({ environment }) => environment === "b@1") < 2);
      expect(inside.length).toBeLessThanOrEqual(limits.places);
      for (const client of ["x", "y", "z"])
        expect(count(inside, (each) => each.client === client)).toBeLessThanOrEqual(3);
      expect(count(inside, ({ environment }) => environment === "b@1")).toBeLessThanOrEqual(2);
      expect([...waiting.values()].filter(free)).toEqual([]);
      expect(admission.use()).toEqual({ sessions: inside.length, queued: waiting.size });
      for (const controller of waiting.keys()) controller.abort(new Error("the end"));
      await settle();
      while (inside.length > 0) admission.leave(inside.pop() as Applicant);
      expect(admission.use()).toEqual({ sessions: 0, queued: 0 });
    }),
    { numRuns: 300 },
  );
});
