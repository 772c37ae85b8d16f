import { MrlmError } from "@mrlm/spec";
import { withoutPassword } from "@mrlm/store/provider";

/** Report of the server or the driver about a failed statement. */
export interface PostgresFault {
  /** Five characters; empty where the server did not send it. */
  readonly sqlState: string;
  readonly message: string;
  /** Whether the connection was lost: all of its open transaction is undone, except where the answer to its end was lost. */
  readonly isLost: boolean;
}

/** Error of Postgres, or of the connection to it. */
export class PostgresError extends Error implements PostgresFault {
  override readonly name = "PostgresError";
  readonly sqlState: string;
  readonly isLost: boolean;

  constructor({ sqlState, message, isLost }: PostgresFault) {
    super(message);
    this.sqlState = sqlState;
    this.isLost = isLost;
  }
}

/** Returns an error of Postgres with a code, a reason and a hint. @param next what to do when the cause is removed */
export function postgresFault(place: string, error: PostgresError, next = "resume the run"): MrlmError {
  const name = `The episode store ${withoutPassword(place)}`;
  if (error.isLost)
    return new MrlmError("STORE_UNAVAILABLE", `${name} does not answer: ${error.message}.`, {
      hint: `Start its server, and check host, port and firewall. Then ${next}.`,
      cause: error,
    });
  const [reason, hint] = causeOf(error, next);
  return new MrlmError("STORE_FAILED", `${name} ${reason}: ${error.message}.`, { hint, cause: error });
}

function causeOf({ sqlState, message }: PostgresError, next: string): readonly [reason: string, hint: string] {
  if (sqlState.startsWith("28") || message.startsWith("SASL"))
    return [
      "refuses the user",
      "Give the password by PGPASSWORD or ~/.pgpass, and check the user and pg_hba.conf of the server.",
    ];
  if (sqlState === "3D000") return ["does not exist", "Make the database: createdb NAME."];
  if (sqlState === "42501")
    return [
      "does not permit this to its user",
      "To make runs: GRANT CREATE ON DATABASE name TO user. To read one: GRANT USAGE ON its schema, and SELECT ON its views and tables.",
    ];
  if (sqlState === "25006") return ["cannot be written", "Name the primary server: a standby accepts no changes."];
  if (sqlState === "53100") return ["found no space on the disk", `Free space on the server, then ${next}.`];
  return ["failed", `Remove the cause, then ${next}.`];
}
