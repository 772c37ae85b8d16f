import { afterEach, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import { MemberPool, PoolMember } from "../src/connection/member-pool.ts";

/** Member whose attempts the test decides: each serves, or fails before. */
class Member extends PoolMember {
  attempts = 0;
  canServe = true;
  readonly reports: string[] = [];

  protected override async attempt(): Promise<number> {
    this.attempts++;
    try {
      if (!this.canServe) throw new Error("refused");
      this.#report(String(await this.serve()));
    } catch (error) {
      this.#report((error as Error).message);
    }
    return 1;
  }

  #report(fault: string): void {
    if (this.reported === fault) return;
    this.reported = fault;
    this.reports.push(fault);
  }
}

const LONG_MS = 60_000;
let pool = new MemberPool<Member>();
afterEach(async () => {
  await pool.close();
  pool = new MemberPool();
});

function add(name: string, member = new Member()): Member {
  pool.add(name, member);
  return member;
}

/** Waits by the changes of the pool, or for at most 5 ms where a condition has none. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pool.waitForChange(5, [], "The test");
}

test("a member serves, is lost, and serves again, until it is closed", async () => {
  const member = add("one");
  expect([pool.serving, pool.all, pool.get("one")]).toEqual([[member], [member], member]);
  member.fail("lost");
  expect(pool.serving).toEqual([]);
  await until(() => member.isServing);
  expect([member.attempts, member.reports]).toEqual([2, ["lost"]]);
  await member.close();
  expect([member.isServing, member.attempts]).toEqual([false, 2]);
});

test("a fault before the service is reported once, and again after a service", async () => {
  const member = new Member();
  member.canServe = false;
  add("one", member);
  await until(() => member.attempts > 3);
  expect(member.reports).toEqual(["refused"]);
  member.canServe = true;
  await until(() => member.isServing);
  member.canServe = false;
  member.fail("lost");
  const { attempts } = member;
  await until(() => member.attempts > attempts + 2);
  expect(member.reports).toEqual(["refused", "lost", "refused"]);
});

test("a member that is closed during its attempt does not serve", async () => {
  const begun = Promise.withResolvers<void>();
  class Slow extends Member {
    protected override async attempt(): Promise<number> {
      await begun.promise;
      return super.attempt();
    }
  }
  const member = add("slow", new Slow());
  const removed = pool.remove("slow");
  begun.resolve();
  await removed;
  expect([member.isServing, member.attempts, pool.all]).toEqual([false, 1, []]);
});

test("the removal of an unknown name does nothing", async () => {
  await pool.remove("none");
  expect(pool.get("none")).toBeUndefined();
});

test.each<[string, (member: Member) => unknown]>([
  ["a loss", (member) => member.fail("lost")],
  ["a new member", () => add("two")],
  ["a removal", () => pool.remove("one")],
  ["a report of the pool", () => pool.changed()],
])("%s ends all waits for a change", async (_, change) => {
  const member = add("one");
  const waits = [1, 2].map(() => pool.waitForChange(LONG_MS, [], "The test"));
  await change(member);
  await expect(Promise.all(waits)).resolves.toBeDefined();
});

test("a wait ends after its time, at once with none left, and with the first aborted signal", async () => {
  await pool.waitForChange(5, [], "The test");
  await pool.waitForChange(-1, [], "The test");
  const abort = new AbortController();
  const wait = pool.waitForChange(LONG_MS, [new AbortController().signal, abort.signal], "The test");
  abort.abort();
  const cancelled = { code: "CANCELLED", message: "The test was cancelled by its caller." };
  await expect(wait).rejects.toMatchObject(cancelled);
  await expect(pool.waitForChange(LONG_MS, [abort.signal], "The test")).rejects.toMatchObject(cancelled);
});

test("the end of a pool closes its members, and rejects present and later waits with its reason", async () => {
  const members = [add("one"), add("two")];
  const wait = pool.waitForChange(LONG_MS, [], "The test");
  const reason = new MrlmError("CANCELLED", "The pool was closed.");
  const closed = pool.close(reason);
  await expect(wait).rejects.toBe(reason);
  await closed;
  expect(pool.closing.aborted).toBe(true);
  expect(members.map(({ isServing, attempts }) => [isServing, attempts])).toEqual(Array(2).fill([false, 1]));
  await expect(pool.waitForChange(LONG_MS, [], "The test")).rejects.toBe(reason);
});
