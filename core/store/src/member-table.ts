import type { JsonObject } from "@mrlm/spec";
import type { Member } from "@mrlm/spec/host";
import type { Database, Row, Statement } from "./database.ts";
import { decodeJson, encodeJson } from "./json.ts";

/** A member without the times that a store sets. */
export type NewMember = Omit<Member, "startedAt" | "heartbeatAt">;

/** Processes that take part in a run. */
export class MemberTable {
  readonly #join: Statement;
  readonly #leave: Statement;
  readonly #all: Statement;

  constructor(database: Database) {
    this.#join = database.prepare(
      `INSERT INTO members VALUES (:id, :kind, :address, :capabilities, :now, :now) ON CONFLICT (id) DO UPDATE SET
       kind = excluded.kind, address = excluded.address, capabilities = excluded.capabilities, heartbeat_at = excluded.heartbeat_at`,
    );
    this.#leave = database.prepare("DELETE FROM members WHERE id = ?");
    this.#all = database.prepare("SELECT * FROM members ORDER BY started_at, id");
  }

  join({ id, kind, address, capabilities }: NewMember, now: number): void {
    this.#join.run({ id, kind, address: address ?? null, capabilities: encodeJson(capabilities), now });
  }

  leave(id: string): void {
    this.#leave.run(id);
  }

  all(): Member[] {
    return this.#all.all().map(toMember);
  }
}

function toMember(row: Row): Member {
  const address = row["address"] as string | null;
  return {
    id: row["id"] as string,
    kind: row["kind"] as Member["kind"],
    ...(address === null ? {} : { address }),
    capabilities: decodeJson(row["capabilities"] as string) as JsonObject,
    startedAt: row["started_at"] as number,
    heartbeatAt: row["heartbeat_at"] as number,
  };
}
