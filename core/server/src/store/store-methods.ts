import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";
import type { JsonObject, Logger } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import {
  cohortCodec,
  creditCodec,
  groupsCodec,
  leaseCodec,
  memberCodec,
  weightsCodec,
  storeDescriptionCodec,
  jsonCodec,
  type StoreDescription,
  type storeProto as wire,
} from "@mrlm/wire";
import { callerOf } from "../service/caller.ts";
import { logFault } from "../sessions/log-fault.ts";
import { unary as answered } from "../unary.ts";
import type { ClientCalls } from "./client-calls.ts";

/** Store of a server, and the description of its run. */
export interface StoreSource {
  /** Opens the store, or returns the open one. Rejects where there is none yet; later calls try again. */
  store(): Promise<EpisodeStore>;
  describe(): StoreDescription;
}

interface Numbered {
  readonly call: bigint;
}

/** Returns the unary methods of StoreService. */
export function storeMethods(source: StoreSource, calls: ClientCalls, logger: Logger) {
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async () =>
      storeDescriptionCodec.encode(source.describe()),
    ),
    open: numbered<wire.OpenRequest, wire.OpenResponse>(async (store, { cohort }) => {
      await store.open(cohortCodec.decode(cohort));
      return {};
    }),
    lease: numbered<wire.LeaseRequest, wire.LeaseResponse>(async (store, { worker, limit, ttlMs }) => ({
      leases: (await store.lease(worker, limit, ttlMs)).map(leaseCodec.encode),
    })),
    renew: numbered<wire.RenewRequest, wire.RenewResponse>(async (store, { leases, ttlMs }) => ({
      lost: [...(await store.renew(leases.map(leaseCodec.decode), ttlMs))],
    })),
    commit: numbered<wire.CommitRequest, wire.CommitResponse>(async (store, { lease, groups, last }) => ({
      late: (await store.commit(leaseCodec.decode(lease), groupsCodec.decode(groups), { isLast: last })) === "late",
    })),
    refuse: numbered<wire.RefuseRequest, wire.RefuseResponse>(async (store, { learner, step, refill, groups }) => {
      await store.refuse(learner, { step, refill }, groups);
      return {};
    }),
    settle: numbered<wire.SettleRequest, wire.SettleResponse>(async (store, { learner, step, credits, applied }) => {
      await store.settle(learner, step, { credits: credits.map(creditCodec.decode), isApplied: applied });
      return {};
    }),
    abandon: numbered<wire.AbandonRequest, wire.AbandonResponse>(async (store, { learner, fromStep }) => {
      await store.abandon(learner, fromStep);
      return {};
    }),
    buffer: reading<wire.BufferRequest, wire.BufferResponse>(async (store, { learner }) => ({
      ...(await store.buffer(learner)),
    })),
    announce: numbered<wire.AnnounceRequest, wire.AnnounceResponse>(async (store, { weights }) => {
      await store.announce(weightsCodec.decode(weights));
      return {};
    }),
    newest: reading<wire.NewestRequest, wire.NewestResponse>(async (store, { policy }) => {
      const weights = await store.newest(policy);
      return { weights: weights === undefined ? undefined : weightsCodec.encode(weights) };
    }),
    mirror: numbered<wire.MirrorRequest, wire.MirrorResponse>(async (store, { rowsJson }) => {
      await store.mirror(rowsJson.map((row) => jsonCodec.decode<JsonObject>(row)));
      return {};
    }),
    prune: numbered<wire.PruneRequest, wire.PruneResponse>(async (store, { beforeRunStep }) => {
      await store.prune(beforeRunStep);
      return {};
    }),
    join: numbered<wire.JoinRequest, wire.JoinResponse>(async (store, { member }) => {
      await store.join(memberCodec.decode(member));
      return {};
    }),
    leave: numbered<wire.LeaveRequest, wire.LeaveResponse>(async (store, { id }) => {
      await store.leave(id);
      return {};
    }),
    members: reading<wire.MembersRequest, wire.MembersResponse>(async (store) => ({
      members: (await store.members()).map((member) => memberCodec.encode(member)),
    })),
    flush: reading<wire.FlushRequest, wire.FlushResponse>(async (store) => {
      await store.flush();
      return {};
    }),
  };

  function unary<Request, Response>(handle: (call: ServerUnaryCall<Request, Response>) => Promise<Response>) {
    return answered(handle, (error) => logFault(logger, error));
  }

  /** A method that changes nothing. */
  function reading<Request, Response>(handle: (store: EpisodeStore, request: Request) => Promise<Response>) {
    return unary<Request, Response>(async ({ request }) => handle(await source.store(), request));
  }

  /** A method that is carried out once for each numbered call. */
  function numbered<Request extends Numbered, Response>(
    handle: (store: EpisodeStore, request: Request) => Promise<Response>,
  ) {
    return unary<Request, Response>((call: CallOf<Request>) =>
      calls.run(callerOf(call).owner, call.request.call, async () => handle(await source.store(), call.request)),
    );
  }
}

type CallOf<Request> = { readonly request: Request; readonly metadata: Metadata; getPeer(): string };
