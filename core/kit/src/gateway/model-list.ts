import type { JsonObject } from "@mrlm/spec";

/** Model of a list. */
interface ListedModel extends JsonObject {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Returns the list of models in the forms of OpenAI and Anthropic. */
export function modelList(models: readonly ListedModel[]): JsonObject & { readonly data: readonly JsonObject[] } {
  const data = models.map((model): JsonObject => {
    const created_at = new Date(model.created * 1_000).toISOString();
    return { ...model, display_name: model.id, object: "model", type: "model", created_at };
  });
  return { object: "list", data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null };
}
