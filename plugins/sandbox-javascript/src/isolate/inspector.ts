// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.

/** Text as `console` and a prompt show values. */
export interface Inspector {
  format(...values: unknown[]): string;
  /** `options` as those of Node's `util.inspect`. */
  inspect(value: unknown, ...options: unknown[]): string;
}

/** Shows values as Node does. Its own way to do so takes a millisecond or two to make: `make` is called for the first value that needs it. */
export function makeInspector(make: () => Inspector): Inspector {
  const { apply } = Reflect;
  const { is } = Object;
  const charCodeAt = String.prototype.charCodeAt;
  const includes = String.prototype.includes;
  const toText = String;
  /** Longer text is cut into lines where it is shown. */
  const SHORT_TEXT = 16;
  let made: Inspector | undefined;
  const inspector = (): Inspector => (made ??= make());

  /** What shows a value that is neither text nor an object; `undefined` for others. */
  function plain(value: unknown): string | undefined {
    switch (typeof value) {
      case "number":
        return is(value, -0) ? "-0" : toText(value);
      case "boolean":
      case "undefined":
        return toText(value);
      case "bigint":
        return `${toText(value)}n`;
      default:
        return value === null ? "null" : undefined;
    }
  }

  /** Printable ASCII that needs no escapes between single quotes. */
  function isShortAndPlain(text: string): boolean {
    if (text.length > SHORT_TEXT) return false;
    for (let i = 0; i < text.length; i++) {
      const code = apply(charCodeAt, text, [i]) as number;
      if (code < 0x20 || code > 0x7e || code === 0x27 || code === 0x5c) return false;
    }
    return true;
  }

  return {
    inspect: (value, ...options) =>
      options.length > 0
        ? inspector().inspect(value, ...options)
        : (plain(value) ??
          (typeof value === "string" && isShortAndPlain(value) ? `'${value}'` : inspector().inspect(value))),
    format(...values) {
      const [first] = values;
      if (values.length > 1 && typeof first === "string" && apply(includes, first, ["%"]))
        return inspector().format(...values);
      let text = "";
      for (let i = 0; i < values.length; i++) {
        const value = values[i];
        const shown = typeof value === "string" ? value : plain(value);
        if (shown === undefined) return inspector().format(...values);
        text += i === 0 ? shown : ` ${shown}`;
      }
      return text;
    },
  };
}
