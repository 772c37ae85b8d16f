// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** Text of values, as `console` and a prompt show them. */
export interface Inspector {
  format(...values: unknown[]): string;
  /** Returns the text of a value; `options` as in Node's `util.inspect`. */
  inspect(value: unknown, ...options: unknown[]): string;
}

/** Makes an inspector. Node's own takes one or two milliseconds to make, so `make` is called for the first value that needs it. */
export function makeInspector(make: () => Inspector): Inspector {
  const { apply } = Reflect;
  const { is } = Object;
  const charCodeAt = String.prototype.charCodeAt;
  const includes = String.prototype.includes;
  const toText = String;
  /** Longer text may be split into lines. */
  const SHORT_TEXT = 16;
  let made: Inspector | undefined;
  const inspector = (): Inspector => (made ??= make());

  /** Returns the text of a value that is neither a string nor an object; `undefined` for others. */
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

  /** Whether a text is short, printable ASCII that needs no escapes in single quotes. */
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
