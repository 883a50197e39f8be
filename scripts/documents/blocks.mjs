// A document as a list of its fenced blocks, with the remark that stands right before each.
//
//   ```sh            commands, run in order in an empty folder that the document has to itself; `# exit N` behind one says
//                    how it ends when not with 0
//   ```text          right after such a block: what its commands printed; written by scripts/generate-docs.mjs
//   <!-- file: F --> before a block: it becomes the file F at that point
//   <!-- examples --> before a block: the examples and schemas of this repository are put into the folder first
//   <!-- starter --> before a block: `reconcile init` is run first
//   <!-- not run: REASON --> before a block of commands: it is shown and not run

/** @returns {{ language: string, body: string, remark: string, from: number, to: number, adjoins: boolean }[]} */
export function blocksOf(text) {
  const blocks = [];
  const fence = /^(`{3,})([\w-]*)[^\n]*\n([\s\S]*?)^\1[ \t]*$/gm;
  let end = 0;
  for (const match of text.matchAll(fence)) {
    const between = text.slice(end, match.index);
    const remark = /<!-- ([^>]*?) -->\s*$/.exec(between)?.[1] ?? "";
    const from = match.index + match[0].indexOf("\n") + 1;
    blocks.push({
      language: match[2],
      body: match[3],
      remark,
      from,
      to: from + match[3].length,
      adjoins: between.trim() === "" || between.trim() === `<!-- ${remark} -->`,
    });
    end = match.index + match[0].length;
  }
  return blocks;
}

/** The commands of a block, continued lines as one, with how each must end. */
export function commandsOf(body) {
  return body
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("#"))
    .map((line) => {
      const [, exit] = /\s# exit (\d+)\b/.exec(line) ?? [];
      return { line: line.trim(), exitCode: Number(exit ?? 0) };
    });
}

/** Puts `bodies[i]` in place of the body of `blocks[i]`, where there is one. */
export function replaceBodies(text, blocks, bodies) {
  let result = "";
  let at = 0;
  for (const [index, block] of blocks.entries()) {
    if (bodies[index] === undefined) continue;
    result += text.slice(at, block.from) + bodies[index];
    at = block.to;
  }
  return result + text.slice(at);
}
