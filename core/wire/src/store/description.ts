import type { Member } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/store/v1/store.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { jsonCodec } from "../json.ts";
import { PROTOCOLS } from "../protocol.ts";

/** Place of an engine. */
interface Place {
  /** `host:port`. */
  readonly address: string;
  readonly token?: string;
}

/** The process that trains a run, with the place of its main engine. */
export interface TrainingPlace extends Place {
  /** Time at which it announced its engines, in milliseconds since 1970. Another process has another one. */
  readonly since: number;
  /** Further engines by name. */
  readonly engines?: Readonly<Record<string, Place>>;
}

/** Run of a store: its configuration, and its training process. */
export interface StoreDescription {
  /** Directory of the run, or path of the store, on the machine of the server. */
  readonly path: string;
  /** Resolved configuration of the run in YAML; "" for a store without a run. */
  readonly config: string;
  /** Absent while no process trains the run. */
  readonly training?: TrainingPlace;
  /** Whether the run has finished and nothing trains it. */
  readonly hasEnded: boolean;
  /** Whether a process holds the lock of the run. It trains, or will do so. */
  readonly isLocked: boolean;
}

/** Codec: description of a store. */
export const storeDescriptionCodec: Codec<StoreDescription, wire.DescribeResponse> = {
  encode: ({ training, isLocked, ...state }) => ({
    protocolMajor: PROTOCOLS.store.major,
    protocolMinor: PROTOCOLS.store.minor,
    ...state,
    locked: isLocked,
    training:
      training === undefined
        ? undefined
        : {
            sinceMs: toInt64(training.since, "the start of a training process"),
            engineAddress: training.address,
            engineToken: training.token ?? "",
            engines: new Map(
              Object.entries(training.engines ?? {}).map(([name, { address, token = "" }]) => [
                name,
                { address, token },
              ]),
            ),
          },
  }),

  decode(message) {
    const { path, config, training, hasEnded, locked: isLocked } = message;
    if (training === undefined) return { path, config, hasEnded, isLocked };
    const { sinceMs, engineAddress, engineToken } = training;
    const since = fromInt64(sinceMs, "the start of a training process");
    const engines = Array.from(training.engines, ([name, { address, token }]) => [name, place(address, token)]);
    return {
      ...{ path, config, hasEnded, isLocked },
      training: {
        since,
        ...place(engineAddress, engineToken),
        ...(engines.length === 0 ? {} : { engines: Object.fromEntries(engines) as Record<string, Place> }),
      },
    };
  },
};

function place(address: string, token: string): Place {
  return { address, ...(token === "" ? {} : { token }) };
}

type NewMember = Omit<Member, "startedAt" | "heartbeatAt">;

/** Codec: member of a run. */
export const memberCodec = {
  /** Encodes a member; without its times where it joins. */
  encode({ id, kind, address, capabilities, ...times }: NewMember & Partial<Member>): wire.Member {
    const { startedAt = 0, heartbeatAt = 0 } = times;
    return {
      id,
      kind,
      address,
      capabilitiesJson: jsonCodec.encode(capabilities),
      startedAtMs: toInt64(startedAt, "the start of a member"),
      heartbeatAtMs: toInt64(heartbeatAt, "the heartbeat of a member"),
    };
  },

  /** Throws MESSAGE_INVALID for a message without a member. */
  decode(message: wire.Member | undefined): Member {
    if (message === undefined) throw invalid("a member is missing");
    const { id, kind, address, capabilitiesJson, startedAtMs, heartbeatAtMs } = message;
    return {
      id,
      kind: kind as Member["kind"],
      ...(address === undefined ? {} : { address }),
      capabilities: jsonCodec.decode(capabilitiesJson),
      startedAt: fromInt64(startedAtMs, "the start of a member"),
      heartbeatAt: fromInt64(heartbeatAtMs, "the heartbeat of a member"),
    };
  },
};
