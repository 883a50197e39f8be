/**
 * A service whose volumes name their VM by its name: the id takes the place of the name, so that everything else
 * compares ids. A name that no VM bears, or several, says nothing of where the volume hangs.
 */

import type { LiveVm, LiveVolume } from "../core/model/live";
import { accepted, isRefusedAs, type Outcome, valueIn } from "../core/model/outcome";
import { appendTo } from "../core/text/objects";
import { plainOptions } from "./attached-apart";
import type { RequestOptions, ServiceClient } from "./client";

type HostCalls = Pick<
  ServiceClient,
  "listVms" | "getVm" | "createVm" | "renameVm" | "deleteVm" | "listVolumes" | "getVolume" | "createVolume"
>;

export function withHostsByName<C extends HostCalls>(calls: C): C {
  /** Ids by name, as the last list showed them; absent once a VM may have another name since. */
  let known: ReadonlyMap<string, readonly string[]> | undefined;
  const learn = (vms: readonly LiveVm[]): ReadonlyMap<string, readonly string[]> => {
    const byName = new Map<string, string[]>();
    for (const { name, id } of vms) appendTo(byName, name.toLowerCase(), id);
    known = byName;
    return byName;
  };
  const idOf = (name: string, names: ReadonlyMap<string, readonly string[]>): string | undefined => {
    const [id, ...others] = names.get(name.toLowerCase()) ?? [];
    return others.length === 0 ? id : undefined;
  };
  const listVms: HostCalls["listVms"] = async (options) => {
    const listed = await calls.listVms(options);
    if (listed.status === "accepted") learn(listed.value);
    return listed;
  };

  async function placed(
    volumes: readonly LiveVolume[],
    options: RequestOptions | undefined,
  ): Promise<Outcome<readonly LiveVolume[]>> {
    const named = volumes.flatMap(({ attachedTo }) => (typeof attachedTo === "string" ? [attachedTo] : []));
    if (named.length === 0) return accepted(volumes);
    let names = known;
    if (names === undefined || named.some((name) => names?.has(name.toLowerCase()) !== true)) {
      const listed = await calls.listVms(options);
      // Without a list nobody knows whose name it is.
      const isUnlisted = isRefusedAs(listed, "unsupported");
      if (listed.status !== "accepted" && !isUnlisted) return listed;
      names = learn(valueIn(listed) ?? []);
    }
    const present = names;
    return accepted(
      volumes.map((volume) => {
        const { attachedTo, ...others } = volume;
        if (typeof attachedTo !== "string") return volume;
        const id = idOf(attachedTo, present);
        return id === undefined ? others : { ...others, attachedTo: id };
      }),
    );
  }
  const one = async (read: Outcome<LiveVolume>, options: RequestOptions | undefined): Promise<Outcome<LiveVolume>> => {
    if (read.status !== "accepted") return read;
    const all = await placed([read.value], options);
    return all.status === "accepted" ? accepted(all.value[0] ?? read.value) : all;
  };
  /** A name may be another VM's by now, whatever the answer. */
  const renaming =
    <A extends readonly unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const answer = await write(...args);
      known = undefined;
      return answer;
    };

  return {
    ...calls,
    listVms,
    createVm: renaming(calls.createVm),
    renameVm: renaming(calls.renameVm),
    deleteVm: renaming(calls.deleteVm),
    async listVolumes(options) {
      const listed = await calls.listVolumes(options);
      return listed.status === "accepted" ? placed(listed.value, plainOptions(options)) : listed;
    },
    getVolume: async (id, options) => one(await calls.getVolume(id, options), plainOptions(options)),
    createVolume: async (name, sizeGb, options) => {
      const made = await calls.createVolume(name, sizeGb, options);
      if (made.status !== "accepted") return made;
      const shown = await one(made, plainOptions(options));
      if (shown.status === "accepted") return shown;
      // It was made, whatever becomes of the look for the VM that it names.
      const { attachedTo: _, ...volume } = made.value;
      return accepted(volume);
    },
  };
}
