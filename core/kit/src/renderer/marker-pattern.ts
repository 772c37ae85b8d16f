/** Returns a global pattern that matches any of the markers, the longest first. */
export function markerPattern(markers: readonly string[]): RegExp {
  const longestFirst = markers.toSorted((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map((marker) => marker.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
}
