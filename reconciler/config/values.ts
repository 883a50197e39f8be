/**
 * A desired state that is at hand as values, read as a file is. Each value stands on a line of its own of a text that is
 * made for the purpose, so that the line of a problem leads back to the path of the value.
 */
import { listOf, newMap, type Path, setEntry, type YamlFile } from "./yaml/file";

export interface ValueSource extends YamlFile {
  /** The path of the value on each line, counted from 1. */
  pathAt(line: number): Path;
}

/** JSON values only. A `${…}` in them is literal text. */
export function sourceOfValues(file: string, values: object): ValueSource {
  const paths: Path[] = [];
  const lines: string[] = [];
  let length = 0;
  const place = (path: Path): number => {
    const line = path.join(".");
    const offset = length;
    paths.push(path);
    lines.push(line);
    length += line.length + 1;
    return offset;
  };
  const convert = (value: unknown, path: Path, offset: number): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      const places: number[] = [];
      for (const [index, item] of value.entries()) {
        const at = [...path, index];
        const itemOffset = place(at);
        items.push(convert(item, at, itemOffset));
        places.push(itemOffset);
      }
      return listOf(offset, items, places);
    }
    const map = newMap(offset);
    for (const [key, item] of Object.entries(value)) {
      if (key === "__proto__") continue;
      const at = [...path, key];
      const itemOffset = place(at);
      setEntry(map, key, convert(item, at, itemOffset), itemOffset, itemOffset);
    }
    return map;
  };
  const root = convert(values, [], place([]));
  return { file, text: lines.join("\n"), root, isLiteral: true, pathAt: (line) => paths[line - 1] ?? [] };
}
