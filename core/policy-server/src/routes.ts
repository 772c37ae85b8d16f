import { ApiError, parseChatRequest } from "@mrlm/kit/gateway";
import type { Exchange } from "@mrlm/kit/http";
import { parseCompletionRequest } from "./api/completion-request.ts";
import type { AnswerContext } from "./answer/answer-context.ts";
import { answerChat } from "./answer/chat-answer.ts";
import { answerCompletion } from "./answer/completion-answer.ts";
import { TokenNames } from "./answer/token-names.ts";
import type { Admission } from "./sampling/admission.ts";
import type { RequestEntry } from "./request-log.ts";
import type { ServedPolicy } from "./served-policy.ts";

interface Served {
  readonly policy: ServedPolicy;
  readonly names: TokenNames;
}

/** Routes of the API. */
export class Routes {
  readonly #served: ReadonlyMap<string, Served>;
  readonly #admission: Admission;
  readonly #created = Math.floor(Date.now() / 1_000);

  constructor(policies: readonly ServedPolicy[], admission: Admission) {
    this.#served = new Map(
      policies.map((policy) => [policy.id, { policy, names: new TokenNames(policy.renderer.tokenizer) }]),
    );
    this.#admission = admission;
  }

  /** Answers a request. Throws ApiError and HttpError. */
  async answer(exchange: Exchange, signal: AbortSignal, entry: RequestEntry): Promise<void> {
    const { request, url } = exchange;
    const { pathname } = url;
    if (pathname === "/v1/chat/completions" || pathname === "/v1/completions") {
      requireMethod(request.method, "POST", pathname);
      const body = await exchange.json();
      const isChat = pathname === "/v1/chat/completions";
      const parsed = isChat ? parseChatRequest(body) : parseCompletionRequest(body);
      const { policy, names } = this.#find(parsed.model);
      const context: AnswerContext = {
        exchange,
        policy,
        names,
        admission: this.#admission,
        signal,
        count: (counts) => entry.count(counts),
      };
      return await ("messages" in parsed ? answerChat(context, parsed) : answerCompletion(context, parsed));
    }
    if (pathname === "/v1/models") {
      requireMethod(request.method, "GET", pathname);
      const data = [...this.#served.values()].map(({ policy }) => this.#model(policy));
      return exchange.send(200, { object: "list", data });
    }
    if (pathname.startsWith("/v1/models/")) {
      requireMethod(request.method, "GET", pathname);
      return exchange.send(200, this.#model(this.#find(decodeName(pathname.slice("/v1/models/".length))).policy));
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

  #model({ id, maxPositions }: ServedPolicy): object {
    return {
      id,
      object: "model",
      created: this.#created,
      owned_by: "mrlm",
      max_model_len: Number.isFinite(maxPositions) ? maxPositions : null,
    };
  }
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
