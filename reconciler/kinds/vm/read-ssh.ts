/** `ssh:` at the top, in an environment and in the block of a VM: how whoever may log in gets there. */

import {
  fieldOf,
  readMap,
  readText,
  reportAt,
  reportValue,
  type Subject,
  subjectWithin,
  type Values,
  type ValuesOfRow,
} from "../../config/fields";
import type { Ssh } from "../../config/rows/kinds";
import { positionOf } from "../../config/yaml/file";
import type { Address } from "../../core/model/address";
import {
  isVmAsHost,
  jumpFrom,
  resolvedJump,
  type SshAccess,
  type SshSettings,
  userPattern,
} from "../../core/model/ssh";
import { nearestName } from "../../core/text/nearest";

/** A block of a VM that says something of its own. */
export interface OwnSsh {
  readonly address: Address;
  readonly subject: Subject;
  readonly values: Values;
}

/** `undefined`: the files say nothing of it. */
export function readSsh(
  top: { readonly subject: Subject; readonly values: Values } | undefined,
  own: readonly OwnSsh[],
  vms: ReadonlySet<Address>,
): SshAccess | undefined {
  if (top === undefined && own.length === 0) return undefined;
  const all = top === undefined ? {} : readSshSettings(top.subject, top.values, undefined, vms);
  const each = own.map(({ address, subject, values }): [Address, SshSettings] => [
    address,
    readSshSettings(subjectWithin(subject, "ssh"), readMap(subject, values, "ssh"), address, vms),
  ]);
  const access = { all, each: new Map(each) };
  for (const { address, subject } of own) refuseCircle(address, subject, access);
  return access;
}

function readSshSettings(
  subject: Subject,
  values: ValuesOfRow<Ssh>,
  from: Address | undefined,
  vms: ReadonlySet<Address>,
): SshSettings {
  const user = readText(subject, values, "user");
  const fits = user === undefined || userPattern.test(user);
  if (!fits) reportValue(subject, ["user"], user, "the name of a user: letters, digits, _ . + and -");
  const jump = readJump(subject, values, from, vms);
  const identityFile = readIdentity(subject, values);
  const port = readSshPort(subject, values);
  return { user: user === undefined || !fits ? undefined : user, jump, ...identityFile, port };
}

function readJump(
  subject: Subject,
  values: ValuesOfRow<Ssh>,
  from: Address | undefined,
  vms: ReadonlySet<Address>,
): SshSettings["jump"] {
  const text = readText(subject, values, "jump");
  if (text === undefined) return undefined;
  const named = jumpFrom(text);
  if (named === undefined)
    return reportValue(subject, ["jump"], text, "the address of a VM such as vm.bastion, user@host, or none");
  if (isVmAsHost(named, from, (vm) => vms.has(vm)))
    return reportValue(subject, ["jump"], text, "the address of the VM alone; its own ssh: says its user and its port");
  const jump = resolvedJump(named, from, (vm) => vms.has(vm));
  if (jump === undefined) {
    const instances = [...vms].filter((vm) => vm.startsWith(`${text}[`));
    const near = instances[0] ?? nearestName(text, vms);
    return reportAt(subject, ["jump"], {
      code: "config/unknown-reference",
      summary: `jump names ${text}, which is not declared`,
      detail: instances.length === 0 ? undefined : `its block has a for_each: ${instances.slice(0, 5).join(", ")}`,
      fix: near === undefined ? "name a VM of this file, or user@host" : `write ${near}`,
    });
  }
  if (jump !== "none" && "vm" in jump && jump.vm === from)
    return reportValue(subject, ["jump"], text, "another machine than the VM itself, or none");
  return jump;
}

/** A path is relative to the file that names it; ssh itself fills in the home folder. */
function readIdentity(
  subject: Subject,
  values: ValuesOfRow<Ssh>,
): Pick<SshSettings, "identityFile" | "beside"> | undefined {
  const text = readText(subject, values, "identity_file");
  if (text === undefined) return undefined;
  if (text.includes('"') || text.startsWith("-"))
    return reportValue(
      subject,
      ["identity_file"],
      text,
      "the path of a private key, without quotes and no dash before it",
    );
  if (/^(?:[~/\\]|[A-Za-z]:)/.test(text)) return { identityFile: text };
  return { identityFile: text, beside: positionOf(subject.place(["identity_file"])).file };
}

function readSshPort(subject: Subject, values: ValuesOfRow<Ssh>): number | undefined {
  const value = fieldOf(values, "port");
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  return reportValue(subject, ["port"], value, "a port from 1 to 65535");
}

/** What single VMs say may not lead in a circle. */
function refuseCircle(address: Address, subject: Subject, { each }: SshAccess): void {
  const seen = [address];
  for (let at = each.get(address)?.jump; at !== undefined && at !== "none" && "vm" in at; at = each.get(at.vm)?.jump) {
    if (at.vm === address) {
      reportValue(
        subject,
        ["ssh", "jump"],
        seen[1] ?? address,
        `a way that ends; this one is a circle: ${[...seen, address].join(" -> ")}`,
      );
      return;
    }
    if (seen.includes(at.vm)) return;
    seen.push(at.vm);
  }
}
