/**
 * `reconcile export pulumi`: a program for what the state holds. Changes nothing, and asks only for what the file
 * takes from elsewhere.
 */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../core/model/diagnostic";
import { printable } from "../../core/text/printable";
import { outputPartsOf } from "../../one/parts";
import { exportedParts, pulumiProgram } from "../../one/program-text";
import { makeOwnFolder, writePrivately } from "../../outside/private-file";
import { command } from "../command";
import { fail, stateIn } from "../compose";
import { closedFiles } from "../externals";
import { commonFlags } from "../flags";
import { openLocatedStore } from "../with-session";
import { readWorkspace } from "../workspace";
import { assertChosen } from "../writing";

export const exportPulumiCommand = command({
  usage: "export pulumi [FILE|DIR]… [--out DIR]",
  summary: "a Pulumi program for what the state holds, with its import list",
  section: "Taking over and handing on",
  examples: [["reconcile export pulumi", "a Pulumi program for what the state holds"]],
  flags: ["file", "out", ...commonFlags],
  async run(invocation) {
    const { flags, output } = invocation;
    const workspace = readWorkspace(invocation, { needed: false });
    const store = openLocatedStore(invocation, workspace);
    const state = await stateIn(store);
    assertChosen(state, flags);
    if (state.resources.size === 0)
      throw fail(
        "state/empty",
        `the state ${store.location} holds nothing to export`,
        "reconcile apply first, or --state",
      );
    const desired = await closedFiles(invocation, workspace);
    const parts = exportedParts(desired, state);
    const files = pulumiProgram(desired.project ?? "exported", parts, state, outputPartsOf(desired));
    const missing = desired.resources
      .filter(({ address }) => state.resources.get(address)?.id === undefined)
      .map(
        ({ address, source }): Diagnostic => ({
          severity: "warning",
          code: "cli/not-applied",
          summary: `${address} is declared and not in the state: it is left out`,
          fix: "reconcile apply, then export again",
          address,
          source,
        }),
      );
    const labels = desired.resources.flatMap((resource): Diagnostic[] => {
      const { address, name, source } = resource;
      const recorded = state.resources.get(address);
      const isSaid = resource.nameUnsaid !== true || recorded?.name !== undefined;
      if (isSaid || recorded?.id === undefined) return [];
      return [
        {
          severity: "warning",
          code: "plan/name-not-said",
          summary: `${address}: nobody has said what it is called in the service, and the program says its label ${name}`,
          fix: "write its name into the block: name: …, and export again",
          address,
          source,
        },
      ];
    });
    const diagnostics = [...missing, ...labels];
    const { out } = flags;
    if (out === undefined) {
      output.print(files["index.ts"] ?? "");
      output.event({ type: "export", files });
      return output.finish({ exitCode: 0, diagnostics });
    }
    if (statSync(out, { throwIfNoEntry: false })?.isDirectory() === false)
      throw fail("cli/occupied", `${out} is a file, and no folder for a program`, "name another folder with --out");
    const occupied = Object.keys(files).filter((name) => existsSync(join(out, name)));
    if (occupied.length > 0)
      throw fail("cli/occupied", `${out} has ${occupied.join(", ")} already`, "name another folder with --out");
    makeOwnFolder(out);
    for (const [name, text] of Object.entries(files)) writePrivately(join(out, name), output.masked(text));
    output.print(printable(`Wrote ${Object.keys(files).join(", ")} to ${out}.`));
    return output.finish({ exitCode: 0, diagnostics });
  },
});
