/** What a server of the Terraform HTTP state protocol does with the requests on which the state relies. */
import { randomUUID } from "node:crypto";
import { breaks, probeVerdict, type StoreFinding } from "./check";
import { type HttpStoreOptions, httpProbe } from "./http";

const isYes = (status: number): boolean => status >= 200 && status < 300;

export async function probeHttp(address: string, options: HttpStoreOptions): Promise<readonly StoreFinding[]> {
  const server = httpProbe(address, options);
  const [mine, other] = [randomUUID(), randomUUID()];
  const absent = await server.read();
  const findings: StoreFinding[] = [
    probeVerdict(
      absent.status === 404 || absent.status === 204,
      "absent",
      [`a state that does not exist is answered with ${absent.status}`, "a first run begins a state, after two looks"],
      [
        `a state that does not exist is answered with ${absent.status}${absent.text === "" ? " and nothing in it" : ""}`,
        "a first run is refused: an empty answer is no state",
      ],
    ),
  ];
  const locked = await server.lock(mine);
  // Somebody has it, and what follows for the trial is told there.
  if (locked.status === 409 || locked.status === 423) return findings;
  if (!isYes(locked.status))
    return [
      ...findings,
      breaks(
        "lock-request",
        `a lock is answered with ${locked.status}`,
        "no run can write: see RECONCILE_STATE_LOCK_ADDRESS and _LOCK_METHOD",
      ),
    ];
  const twice = await server.lock(other);
  const written = await server.write(mine, 1, "one");
  const read = await server.read();
  const sameSerial = await server.write(mine, 1, "one again");
  const stranger = await server.write(other, 3, "of another");
  const unlocked = await server.unlock(other);
  const relocked = isYes((await server.lock(other)).status);
  await server.unlock(other);
  await server.unlock(mine);
  findings.push(
    probeVerdict(
      !isYes(twice.status),
      "lock-twice",
      [`a second lock is refused (${twice.status})`, "two runs never write at once"],
      [`a second lock is granted (${twice.status})`, "two runs may write at once: run one at a time"],
    ),
    probeVerdict(
      isYes(written.status) && read.status === 200 && read.text.includes(mine),
      "document-after-write",
      ["a document is read at once as it was written", "a plan sees what the run before it did"],
      [
        `a document is not read at once as it was written (${written.status}, ${read.status})`,
        "a run may fail, saying that its lock was taken over",
      ],
    ),
    probeVerdict(
      !isYes(sameSerial.status),
      "serial-twice",
      [`a serial that there was is refused (${sameSerial.status})`, "an older document never replaces a newer one"],
      ["a serial that there was is taken again", "the server keeps no order: the look before the first write does"],
    ),
    probeVerdict(
      !isYes(stranger.status),
      "write-of-another",
      [
        `a write without the lock is refused (${stranger.status})`,
        "a run whose lock was taken away cannot write any more",
      ],
      [
        "a write without the lock is taken",
        "a run looks before each write whether the document is still its own, which leaves a moment between the two",
      ],
    ),
    probeVerdict(
      !relocked,
      "unlock-of-another",
      [
        `a lock stays when somebody else unlocks it (${unlocked.status})`,
        "only its holder and `state unlock --force` take a lock away",
      ],
      [`anybody can take a lock away (${unlocked.status})`, "a run that unlocks by mistake lets another one in"],
    ),
  );
  return findings;
}

export async function isTakenHttp(address: string, options: HttpStoreOptions): Promise<boolean> {
  const { status, text } = await httpProbe(address, options).read();
  return isYes(status) && text !== "";
}

/** Many servers cannot delete a state: then it is left behind, and its name is told. */
export async function removeHttp(address: string, options: HttpStoreOptions): Promise<boolean> {
  const server = httpProbe(address, options);
  const removed = await server.remove().catch(() => undefined);
  const left = await server.read().catch(() => undefined);
  return removed !== undefined && left !== undefined && left.status !== 200;
}
