import htm from "htm";
import { h, type VNode } from "preact";

/** Markup of Preact. Text in it is always text: it is never parsed as HTML. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;
