import { ApiError, type Codec, codecOf, modelList, parseChatRequest } from "@mrlm/kit/gateway";
import type { Exchange } from "@mrlm/kit/http";
import { isObject } from "@mrlm/spec";
import { parseCompletionRequest } from "./api/completion-request.ts";
import type { AnswerContext } from "./answer/answer-context.ts";
import { answerCall, countTokens } from "./answer/call-answer.ts";
import { answerChat } from "./answer/chat-answer.ts";
import { answerCompletion } from "./answer/completion-answer.ts";
import { answerReward } from "./answer/reward-answer.ts";
import { TokenNames } from "./answer/token-names.ts";
import type { Admission } from "./sampling/admission.ts";
import type { RequestEntry } from "./request-log.ts";
import { type ServedPolicy, withRewards } from "./served-policy.ts";

interface Served {
  readonly policy: ServedPolicy;
  readonly names: TokenNames;
}

/** Request that a policy answers. */
interface Asked {
  /** Id of the policy. */
  readonly model: string;
  answer(context: AnswerContext): Promise<void> | void;
}

/** Readers of the requests of each route. */
const READERS: Readonly<Record<string, (body: unknown, codec: Codec) => Asked>> = {
  "/chat/completions": (body) =>
    asked(parseChatRequest(body), (context, request) =>
      context.policy.isReward ? answerReward(context, request) : answerChat(context, request),
    ),
  "/completions": (body) => asked(parseCompletionRequest(body), answerCompletion),
  "/responses": (body, codec) => asked(codec.read(body, "server"), answerCall),
  "/messages": (body, codec) => asked(codec.read(body, "server"), answerCall),
  // A request to count has all members of a message but the limit of the answer.
  "/messages/count_tokens": (body, codec) =>
    asked(codec.read(isObject(body) ? { ...body, max_tokens: 1 } : body, "server"), countTokens),
};

/** Routes of the APIs. */
export class Routes {
  readonly #served: ReadonlyMap<string, Served>;
  readonly #admission: Admission;
  readonly #created = Math.floor(Date.now() / 1_000);

  constructor(policies: readonly ServedPolicy[], admission: Admission) {
    this.#served = new Map(
      withRewards(policies).map((policy) => [policy.id, { policy, names: new TokenNames(policy.renderer.tokenizer) }]),
    );
    this.#admission = admission;
  }

  /** Returns the form of the API of a request, for its errors too. */
  codecOf({ request, url }: Exchange): Codec {
    const route = routeOf(url);
    return codecOf(route, route !== "/completions" && request.headers["anthropic-version"] !== undefined);
  }

  /** Answers a request. Throws ApiError and HttpError. */
  async answer(exchange: Exchange, signal: AbortSignal, entry: RequestEntry): Promise<void> {
    const { request, url } = exchange;
    const { pathname } = url;
    const route = routeOf(url);
    const codec = this.codecOf(exchange);
    if (Object.hasOwn(READERS, route)) {
      requireMethod(request.method, "POST", pathname);
      const { model, answer } = (READERS[route] as (typeof READERS)[string])(await exchange.json(), codec);
      const served = this.#find(model);
      if (served.policy.isReward && route !== "/chat/completions")
        throw new ApiError(400, "invalid_value", `The model '${model}' scores conversations of /v1/chat/completions.`, {
          param: "model",
        });
      const count: AnswerContext["count"] = (counts) => entry.count(counts);
      return await answer({ ...served, exchange, codec, admission: this.#admission, signal, count });
    }
    if (route === "/models") {
      requireMethod(request.method, "GET", pathname);
      return exchange.send(200, this.#models([...this.#served.values()]));
    }
    if (route.startsWith("/models/")) {
      requireMethod(request.method, "GET", pathname);
      const served = this.#find(decodeName(route.slice("/models/".length)));
      return exchange.send(200, this.#models([served]).data[0]);
    }
    throw new ApiError(404, "not_found", `There is no route ${request.method ?? ""} ${pathname.slice(0, 100)}.`);
  }

  #find(id: string): Served {
    const served = this.#served.get(id);
    if (served !== undefined) return served;
    const known = [...this.#served.keys()].join(", ");
    const message = `The model '${id.slice(0, 200)}' does not exist. This server has: ${known}.`;
    throw new ApiError(404, "model_not_found", message, { param: "model" });
  }

  #models(served: readonly Served[]): ReturnType<typeof modelList> {
    return modelList(
      served.map(({ policy: { id, maxPositions } }) => ({
        ...{ id, created: this.#created, owned_by: "mrlm" },
        max_model_len: Number.isFinite(maxPositions) ? maxPositions : null,
      })),
    );
  }
}

function asked<T extends { readonly model: string }>(
  request: T,
  answer: (context: AnswerContext, request: T) => Promise<void> | void,
): Asked {
  return { model: request.model, answer: (context) => answer(context, request) };
}

/** Returns the path after the base URL; empty for a path outside of it. */
function routeOf({ pathname }: URL): string {
  return pathname.startsWith("/v1/") ? pathname.slice("/v1".length) : "";
}

function requireMethod(given: string | undefined, method: string, pathname: string): void {
  if (given !== method)
    throw new ApiError(405, "method_not_allowed", `${pathname} takes ${method}, not ${given ?? "no method"}.`);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
