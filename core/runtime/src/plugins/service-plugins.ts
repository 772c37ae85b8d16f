const plugins = new WeakMap<object, string>();

/** Records the plugin that made a service, for messages. */
export function recordPlugin(service: unknown, plugin: string | undefined): void {
  if (typeof service === "object" && service !== null && plugin !== undefined) plugins.set(service, plugin);
}

/** Returns the plugin that made a service, where it is recorded. */
export function pluginOf(service: object): string | undefined {
  return plugins.get(service);
}

/** Returns the id of a service with the name of its plugin: `calculator@1 (plugin @mrlm/tool-calculator)`. */
export function withPlugin(id: string, service: object): string {
  const plugin = plugins.get(service);
  return plugin === undefined ? id : `${id} (plugin ${plugin})`;
}
