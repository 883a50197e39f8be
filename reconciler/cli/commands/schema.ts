/** `reconcile schema`: the schema of desired states with the keys of these files and the names that their service knows. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withKnownWords } from "../../config/known-words";
import { collectProblems } from "../../config/problems";
import { readYaml } from "../../config/yaml/reader";
import type { Diagnostic } from "../../core/model/diagnostic";
import type { CatalogueEntry } from "../../core/model/live";
import type { Outcome } from "../../core/model/outcome";
import { readFailed } from "../../engine/read-failed";
import { makeOwnFolder } from "../../outside/private-file";
import { packageFolder } from "../../version";
import { command, type Invocation } from "../command";
import { openWorkspaceService } from "../compose";
import { asDiagnostics } from "../crash";
import { commonFlags } from "../flags";
import { givenSources, readWorkspace } from "../workspace";
import { putYaml } from "../yaml-output";

export const schemaCommand = command({
  usage: "schema [FILE|DIR]… [--out FILE]",
  summary: "the schema for your editor, with your own keys and the names that your service has",
  section: "Looking",
  examples: [
    [
      "reconcile schema --out .reconcile/schema.json",
      "then # yaml-language-server: $schema=.reconcile/schema.json as the file's first line",
    ],
  ],
  flags: ["file", "out", "no-refresh", ...commonFlags],
  async run(invocation) {
    const { flags, output } = invocation;
    // A file that is being edited has errors; the keys that can be read are offered all the same.
    const roots = givenSources(invocation).map((source) => readYaml(source, collectProblems()).root);
    const { catalogue, diagnostics } = flags["no-refresh"] === true ? emptyCatalogue : await lookAt(invocation);
    const schema: unknown = JSON.parse(readFileSync(join(packageFolder, "schemas/desired-state.schema.json"), "utf8"));
    const text = `${JSON.stringify(withKnownWords(schema, roots, catalogue))}\n`;
    if (flags.out !== undefined) makeOwnFolder(dirname(flags.out));
    // The schema can be made again at any time from the files and the service, so it may be written over.
    putYaml(invocation, text, { mode: 0o666 });
    return output.finish({ exitCode: 0, diagnostics });
  },
});

interface SeenCatalogue {
  readonly catalogue: Readonly<Record<"flavors" | "images" | "regions", readonly string[]>>;
  readonly diagnostics: readonly Diagnostic[];
}
const emptyCatalogue: SeenCatalogue = { catalogue: { flavors: [], images: [], regions: [] }, diagnostics: [] };

/** What the service lists. Where the service cannot be asked, the schema has the files' keys alone and says so. */
async function lookAt(invocation: Invocation): Promise<SeenCatalogue> {
  try {
    const service = await openWorkspaceService(readWorkspace(invocation), invocation);
    const { client } = service;
    const unread: Diagnostic[] = [];
    const names = async (
      what: keyof SeenCatalogue["catalogue"],
      can: boolean,
      list: () => Promise<Outcome<readonly CatalogueEntry[]>>,
    ): Promise<string[]> => {
      const listed = can ? await list() : undefined;
      if (listed === undefined) return [];
      if (listed.status === "accepted") return listed.value.map(({ id, name }) => name ?? id);
      unread.push({ ...readFailed(`the list of ${what}`, listed), severity: "warning" });
      return [];
    };
    try {
      const [flavors, images, regions] = await Promise.all([
        names("flavors", client.can.listsFlavors, () => client.listFlavors()),
        names("images", client.can.listsImages, () => client.listImages()),
        names("regions", client.can.listsRegions, () => client.listRegions()),
      ]);
      return { catalogue: { flavors, images, regions }, diagnostics: unread };
    } finally {
      await service.close();
    }
  } catch (error) {
    const found = asDiagnostics(error);
    if (found === undefined) throw error;
    return { ...emptyCatalogue, diagnostics: found.map((one) => ({ ...one, severity: "warning" as const })) };
  }
}
