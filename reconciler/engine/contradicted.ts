/** What one answer says is gone and another answer of the same look says is there counts as existing: the two prove nothing. */

import type { Address } from "../core/model/address";
import type { Diagnostic } from "../core/model/diagnostic";
import { type Look, valueSeen } from "../core/model/evidence";
import { type Advice, told, toSay } from "../core/model/fix";
import { allOfKind, type Kind, kindRows, kinds } from "../core/model/kinds";
import type { State } from "../core/model/recorded";
import { lazily } from "../core/text/lazily";
import { onlyDefined } from "../core/text/objects";
import type { SeenByKind } from "./look";

/** Marks in `seen` what is contradicted. */
export function doubtContradicted(state: State, seen: SeenByKind): Diagnostic[] {
  const otherLetters = kinds.flatMap((kind) => doubtOtherLetters(kind, state, seen));
  return [...otherLetters, ...doubtHungOn(state, seen), ...doubtNamed(state, seen)];
}

interface Contradiction {
  readonly kind: Kind;
  readonly id: string;
  readonly address: Address | undefined;
  readonly because: string;
  readonly advice: Advice;
}

function doubt(seen: SeenByKind, { kind, id, address, because, advice }: Contradiction): Diagnostic[] {
  const looks: Map<string, Look<unknown>> = seen[kind].looks;
  const look = looks.get(id);
  if (look?.seen !== "absent") return [];
  const reason = `${look.because}, and yet ${because}`;
  const fix = told(advice);
  looks.set(id, { seen: "unobserved", reason, contradicted: { because, hint: fix.fix ?? "" } });
  const noun = kindRows[kind].fullNoun;
  return [
    {
      severity: "warning",
      code: "plan/not-listed-yet",
      summary: `${address ?? noun}: ${noun} ${id} counts as existing: ${reason}`,
      ...fix,
      ...onlyDefined({ address }),
    },
  ];
}

/** What is shown by the same id in other letters is there, unless that is another resource of the state. */
function doubtOtherLetters(kind: Kind, { resources }: State, seen: SeenByKind): Diagnostic[] {
  const { looks } = seen[kind];
  const records = lazily(() => new Map(allOfKind(resources.values(), kind).map((record) => [record.id, record])));
  const shown = lazily(
    () => new Map([...looks].flatMap(([id, look]) => (look.seen === "yes" ? [[id.toLowerCase(), id]] : []))),
  );
  return [...looks].flatMap(([id, look]) => {
    const other = look.seen === "absent" ? shown().get(id.toLowerCase()) : undefined;
    if (other === undefined || records().has(other)) return [];
    const address = records().get(id)?.address;
    const isLower = id === id.toLowerCase();
    const anew = "if the service writes its ids so from now on: ";
    const advice =
      isLower || address === undefined
        ? `in the dialect: records.${kind}.id: { value: /id, case: ${isLower ? "lower" : "upper"} }`
        : [
            toSay(
              [anew, ["state rm", address], ", then ", ["import", address, other]],
              `${anew}pulumi state delete with its URN, then import ${other}`,
            ),
          ];
    return doubt(seen, {
      kind,
      id,
      address,
      because: `the service shows ${other}, which is the same in other letters`,
      advice,
    });
  });
}

/** A VM on which a volume says that it hangs is there. */
function doubtHungOn({ resources }: State, seen: SeenByKind): Diagnostic[] {
  const hangingOn = lazily(() => {
    const volumes = [...seen.volume.looks.values()].flatMap((one) => valueSeen(one) ?? []);
    return new Map(volumes.flatMap((one) => (typeof one.attachedTo === "string" ? [[one.attachedTo, one.id]] : [])));
  });
  return allOfKind(resources.values(), "vm").flatMap(({ id, address, deleting }) => {
    if (id === undefined || deleting === true || seen.vm.looks.get(id)?.seen !== "absent") return [];
    const disk = hangingOn().get(id);
    if (disk === undefined) return [];
    const advice = [
      toSay(
        ["plan again in a moment; if the VM is gone and the volume goes on saying so: ", ["state rm", address]],
        "run it again in a moment; if the VM is gone and the volume goes on saying so: pulumi state delete with its URN",
      ),
    ];
    return doubt(seen, { kind: "vm", id, address, because: `volume ${disk} says that it hangs on it`, advice });
  });
}

/** A volume that a VM's record names is there. Of a disk that goes with its VM nothing is said. */
function doubtNamed({ resources }: State, seen: SeenByKind): Diagnostic[] {
  const { looks, unlisted } = seen.volume;
  const addresses = lazily(() => new Map(allOfKind(resources.values(), "volume").map((one) => [one.id, one.address])));
  const vms = [...seen.vm.looks.values()].flatMap((one) => valueSeen(one) ?? []);
  return vms.flatMap(({ name, volumes = [] }) =>
    volumes.flatMap(({ id }) => {
      const look = looks.get(id) ?? unlisted;
      if (look.seen !== "absent") return [];
      looks.set(id, look);
      const address = addresses().get(id);
      const because = `the record of VM ${name} names it`;
      const advice = "run the same command again in a moment: it looks first";
      const findings = doubt(seen, { kind: "volume", id, address, because, advice });
      return address === undefined ? [] : findings;
    }),
  );
}
