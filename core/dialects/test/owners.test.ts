import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import { ENVIRONMENT_SERVICE, environmentProto as wire } from "@mrlm/wire";
import { callGrpc } from "./support/call-grpc.ts";
import { OpenEnvSocket } from "./support/open-env-socket.ts";
import { INITIALIZE, raw } from "./support/raw.ts";
import { type Served, served } from "./support/served.ts";

/** A protocol with the methods that name a session. Answers are texts in which `ID` stands for the id of the session. */
interface Protocol {
  /** Opens a session. Returns its id. */
  open(token: string): Promise<string>;
  readonly methods: Readonly<Record<string, (token: string, id: string) => Promise<string>>>;
  /** Acts in a session. Returns the text of the answer. */
  act(token: string, id: string): Promise<string>;
  /** Answer of an act in a session that continues. */
  readonly goesOn: RegExp;
}

const [ALICE, BOB] = ["a".repeat(32), "b".repeat(32)] as const;
let http: Served;
let grpc: EnvironmentServer;

beforeAll(async () => {
  const tokens = new Tokens([
    { name: "alice", token: ALICE },
    { name: "bob", token: BOB },
  ]);
  http = await served({ tokens, dialects: ["mcp", "openenv", "ors", "nemo-gym"] }, ["sums@1", "plain@1"]);
  const { sessions } = http;
  grpc = await serveEnvironments({ host: http.host, address: "127.0.0.1:0", tokens, sessions });
});
afterAll(async () => {
  await grpc.close();
  await http.close();
});

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Sends a request to a path of the environment. */
const send = (token: string, path: string, { headers, ...sent }: Sent = {}) =>
  raw(http.url(`/sums@1${path}`), { ...sent, headers: { ...headers, authorization: `Bearer ${token}` } });
const answered = async (id: string, sending: ReturnType<typeof send>): Promise<string> => {
  const { status, text, headers } = await sending;
  return `${status} ${text} ${headers["set-cookie"] ?? ""}`.replaceAll(id, "ID");
};

const mcp = (sent: Sent) => (token: string, id: string) =>
  answered(id, send(token, "/mcp", { ...sent, headers: { "mcp-session-id": id } }));
const tool = (name: string, args: object = {}) =>
  mcp({ body: { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: args } } });
const ors =
  (path: string, body?: unknown) =>
  (token: string, id: string): Promise<string> =>
    answered(id, send(token, path, { body, headers: { "x-session-id": id } }));
const rpc =
  (method: string, params: object = {}) =>
  (token: string, id: string): Promise<string> =>
    answered(
      id,
      send(token, "/mcp", { body: { jsonrpc: "2.0", id: 7, method, params: { ...params, session_id: id } } }),
    );
const nemo =
  (path: string, body: object = {}) =>
  (token: string, id: string): Promise<string> =>
    answered(id, send(token, path, { body, headers: { cookie: `mrlm_session=${id}` } }));
const turn = {
  responses_create_params: { input: "sum?" },
  response: {
    id: "r",
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "9", annotations: [] }] }],
  },
};
const sum = { a: 4, b: 5 };

const { reset, step, renew, close, multiplex } = ENVIRONMENT_SERVICE;
interface Method<Request> {
  readonly path: string;
  requestSerialize(request: Request): Buffer;
}
/** Calls a method, and reads an id in the answer. */
const unary =
  <Request>({ path, requestSerialize }: Method<Request>, requestOf: (sessionId: Uint8Array) => Request) =>
  async (token: string, id: string): Promise<string> => {
    const key = Buffer.from(id, "hex");
    const answer = await callGrpc(grpc.port, path, token, requestSerialize(requestOf(key)));
    return answer.toString("latin1").replace(key.toString("latin1"), "ID");
  };
const streamed =
  (requestOf: (sessionId: Uint8Array) => wire.SessionRequest["request"]) =>
  async (token: string, id: string): Promise<string> => {
    const request = requestOf(Buffer.from(id, "hex"));
    const message = wire.MultiplexRequest.encode({
      requests: [{ requestId: 1n, request, cancel: false, chunk: undefined, traceparent: "" }],
    }).finish();
    const frame = (await callGrpc(grpc.port, multiplex.path, token, message, true)) as Buffer;
    const [answer] = wire.MultiplexResponse.decode(frame).responses;
    const response = answer?.response;
    return response?.$case === "error" ? response.error.code : String(response?.$case);
  };
const resetRequest = (sessionId: Uint8Array, epoch = 1): wire.ResetRequest => ({
  sessionId,
  epoch,
  environment: { id: "sums@1", optionsJson: "" },
  seed: undefined,
  task: "train/4",
  leaseMs: 0,
  deadlineMs: 0,
  episode: new Uint8Array(),
});
const stepRequest = (sessionId: Uint8Array): wire.StepRequest => ({
  sessionId,
  epoch: 1,
  index: 0,
  action: {
    agent: "agent",
    message: { role: "assistant", name: "", parts: [{ part: { $case: "text", text: { text: "9" } } }] },
    finishReason: wire.FinishReason.FINISH_REASON_STOP,
  },
  deadlineMs: 0,
});
const renewed = unary(renew, (id) => ({ sessionIds: [id] }));

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  mcp: {
    open: async (token) =>
      String((await send(token, "/mcp?task=train/4", { body: INITIALIZE })).headers["mcp-session-id"]),
    methods: {
      observe: tool("observe"),
      "call of a tool": tool("add", sum),
      finish: tool("finish", { answer: "9" }),
      list: mcp({ body: { jsonrpc: "2.0", id: 3, method: "tools/list" } }),
      cancel: mcp({ body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } } }),
      "the stream of notifications": mcp({ method: "GET" }),
      DELETE: mcp({ method: "DELETE" }),
    },
    act: tool("add", sum),
    goesOn: /"text":"9"/,
  },
  ors: {
    open: async (token) => {
      const id = randomBytes(16).toString("hex");
      await ors("/create", { split: "train", index: 4 })(token, id);
      return id;
    },
    methods: {
      ping: ors("/ping", {}),
      task_tools: ors("/task_tools"),
      prompt: ors("/prompt"),
      messages: ors("/messages"),
      call: ors("/call", { name: "add", input: sum }),
      submit: ors("/call", { name: "submit", input: { answer: "9" } }),
      "the result of a call": ors("/call", { name: "add", input: sum, task_id: "none" }),
      delete: ors("/delete", {}),
      delete_session: ors("/delete_session", {}),
    },
    act: ors("/call", { name: "add", input: sum }),
    goesOn: /"text":\s*"9"/,
  },
  "openenv by JSON-RPC": {
    open: async (token) => {
      const { body } = await send(token, "/mcp", {
        body: { jsonrpc: "2.0", id: 1, method: "openenv/session/create", params: {} },
      });
      return (body.result as { session_id: string }).session_id;
    },
    methods: {
      "tools/list": rpc("tools/list"),
      "tools/call": rpc("tools/call", { name: "add", arguments: sum }),
      "a WebSocket": async (token, id) => {
        const socket = await OpenEnvSocket.connect(http.url(`/sums@1/ws?session_id=${id}`), {
          authorization: `Bearer ${token}`,
        });
        const answer = await socket.next();
        await socket.lose();
        return JSON.stringify(answer).replaceAll(id, "ID");
      },
      close: rpc("openenv/session/close"),
    },
    act: rpc("tools/call", { name: "add", arguments: sum }),
    goesOn: /"text":"9"/,
  },
  "nemo-gym": {
    open: async (token) => {
      const { headers } = await send(token, "/seed_session", { body: { ...turn, task: "train/4" } });
      return /mrlm_session=(\w+)/.exec(String(headers["set-cookie"]))?.[1] as string;
    },
    methods: {
      "call of a tool": nemo("/add", sum),
      step: nemo("/step", turn),
      verify: nemo("/verify", turn),
      close: nemo("/close"),
      close_session: (token, id) => nemo("/close_session", { resources_session_id: id })(token, id),
    },
    act: nemo("/add", sum),
    goesOn: /^200 9 /,
  },
  gRPC: {
    open: async (token) => {
      const id = randomBytes(16).toString("hex");
      await unary(reset, resetRequest)(token, id);
      return id;
    },
    methods: {
      step: unary(step, stepRequest),
      renew: renewed,
      "step on a stream": streamed((id) => ({ $case: "step", step: stepRequest(id) })),
      "renew on a stream": streamed((id) => ({ $case: "renew", renew: { sessionIds: [id] } })),
      close: unary(close, (sessionId) => ({ sessionId })),
      "close on a stream": streamed((sessionId) => ({ $case: "close", close: { sessionId } })),
    },
    act: renewed,
    // The list of ids without a session is empty.
    goesOn: /^$/,
  },
};

describe.each(Object.entries(PROTOCOLS))("U7: the sessions of one name, by %s", (_, { open, methods, act, goesOn }) => {
  let id: string;
  beforeEach(async () => {
    id = await open(ALICE);
    expect(await act(ALICE, id)).toMatch(goesOn);
  });

  test.each(Object.entries(methods))(
    "%s of another name has the answer of an unknown session",
    async (_name, method) => {
      const unknown = id.replace(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16));
      expect(await method(BOB, id)).toBe(await method(BOB, unknown));
      expect(await act(ALICE, id)).toMatch(goesOn);
    },
  );
});

test("U7: a reset of gRPC in the session of another name is refused, on every channel", async () => {
  const { open, act } = PROTOCOLS["gRPC"] as Protocol;
  const id = await open(ALICE);
  const again = (sessionId: Uint8Array): wire.ResetRequest => resetRequest(sessionId, 2);
  expect(await unary(reset, again)(BOB, id)).toBe("status 5");
  expect(await streamed((key) => ({ $case: "reset", reset: again(key) }))(BOB, id)).toBe("SESSION_NOT_FOUND");
  expect(await act(ALICE, id)).toBe("");
});

test("U7: a session of MCP is not found under the path of another environment", async () => {
  const id = await (PROTOCOLS["mcp"] as Protocol).open(ALICE);
  const headers = { authorization: `Bearer ${ALICE}`, "mcp-session-id": id };
  const body = { jsonrpc: "2.0", id: 3, method: "tools/list" };
  expect((await raw(http.url("/plain@1/mcp"), { body, headers })).status).toBe(404);
  expect((await raw(http.url("/sums@1/mcp"), { body, headers })).status).toBe(200);
});
