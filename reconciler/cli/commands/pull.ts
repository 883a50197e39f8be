/** `reconcile pull`: the YAML, with imports, for what exists; applying it changes nothing. Sends only reads. */

import { dirname, relative, resolve } from "node:path";
import { worldBlocks } from "../../config/world-blocks";
import { writeYaml } from "../../config/write-yaml";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { pullWorld, type Wanted } from "../../engine/pull";
import { command, type Invocation, noArguments } from "../command";
import { openService } from "../compose";
import { commonFlags } from "../flags";
import { readWorkspace, type Workspace } from "../workspace";
import { checkTarget, putYaml, schemaFor } from "../yaml-output";

export const pullCommand = command({
  usage: "pull [--vm ID|NAME]… [--volume ID]… [--group ID]… [--out FILE]",
  summary: "writes the YAML for what exists",
  section: "Taking over and handing on",
  examples: [["reconcile pull", "the YAML for what exists; applying it changes nothing"]],
  flags: ["file", "vm", "volume", "group", "project", "region", "user-id", "out", "force", ...commonFlags],
  positionals: noArguments,
  run,
});

const orAll = (given: readonly string[] | undefined): Wanted => given ?? "all";

async function run(invocation: Invocation): Promise<number> {
  const { flags, output } = invocation;
  checkTarget(invocation);
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  const service = await openService(workspace, invocation);
  try {
    const pulled = await pullWorld(service.client, {
      vms: orAll(flags.vm),
      volumes: orAll(flags.volume),
      groups: orAll(flags.group),
    });
    const diagnostics = [...service.diagnostics, ...pulled.diagnostics];
    // Half a world would pass for the whole.
    if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics });
    const { blocks, left } = worldBlocks(pulled);
    const { head, missing } = headFor(invocation, workspace, pulled.vms.length > 0);
    const notes = [
      "What existed when `reconcile pull` looked; applying it changes nothing.",
      ...(missing.length === 0
        ? []
        : [`fill in: ${missing.join(", ")} (the service does not show them); reconcile validate says where`]),
      ...left,
    ];
    putYaml(
      invocation,
      writeYaml({ ...(flags.out === undefined ? {} : { schema: schemaFor(flags.out) }), notes, head, blocks }),
    );
    const filled = missing.map(
      (name): Diagnostic => ({
        severity: "warning",
        code: "pull/fill-in",
        summary: `${name} is in no record; fill it in`,
        fix: `reconcile pull --${name.replace("_", "-")} …`,
      }),
    );
    return output.finish({ exitCode: 0, diagnostics: [...diagnostics, ...filled] });
  } finally {
    await service.close();
  }
}

function headFor({ flags }: Invocation, workspace: Workspace, hasVms: boolean) {
  const { service } = workspace.desired;
  const project = flags.project ?? workspace.desired.project;
  const region = flags.region ?? workspace.desired.region;
  const userId = flags["user-id"];
  const baseUrl = flags["base-url"] ?? service.baseUrl;
  const folder = dirname(resolve(flags.out ?? "reconcile.yaml"));
  const dialect =
    flags.dialect ??
    (service.dialect !== undefined && "path" in service.dialect
      ? resolve(dirname(service.dialect.source.file), service.dialect.path)
      : undefined);
  const settings = {
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(dialect === undefined ? {} : { dialect: relative(folder, resolve(dialect)) }),
  };
  const required = { project, region, user_id: userId };
  return {
    head: {
      version: 1,
      ...(project === undefined ? {} : { project }),
      ...(region === undefined ? {} : { region }),
      ...(Object.keys(settings).length === 0 ? {} : { service: settings }),
      ...(userId === undefined ? {} : { defaults: { vm: { user_id: userId } } }),
    },
    missing: hasVms ? Object.entries(required).flatMap(([name, value]) => (value === undefined ? [name] : [])) : [],
  };
}
