/**
 * Creating a VM, whose answer carries no id: it is found by its name, among VMs that were not there before, and then
 * waited for until it is built. How it is made once and never twice is create-once.ts's.
 */

import { fixText, toRun, toSay } from "../../core/model/fix";
import type { LiveVm } from "../../core/model/live";
import { accepted } from "../../core/model/outcome";
import type { ActionOf, Step } from "../../core/plan/step";
import { settleVm } from "../../core/schedule/settle";
import { createOnce } from "../../engine/create-once";
import { recordCreated } from "../../engine/record-step";
import { doneUnseen, isoNow, optionsFor, type Run, type StepResult, type StepWrite } from "../../engine/run";
import { shownByVm, waitForVm } from "./watch";

type Create = Step<"vm.create">;

export function performCreateVm(step: Create, action: ActionOf<"vm.create">, run: Run): Promise<StepResult> {
  const { client, timing } = run.ports;
  const { record } = step;
  const { name } = action.vm;
  let sentAt = run.ports.clock.now();
  return createOnce(
    step,
    {
      kind: "vm",
      name,
      record,
      async send() {
        sentAt = run.ports.clock.now();
        const outcome = await client.createVm(action.vm, optionsFor(step, run));
        return outcome.status === "accepted" ? accepted(undefined) : outcome;
      },
      keep: (vm) => settleNew(step, record, vm, sentAt, run),
      acceptedWindowMs: timing.vmCreateTimeoutMs,
      unlisted: () => idUnknown(step, record, run),
    },
    run,
  );
}

async function settleNew(
  step: Create,
  record: Create["record"],
  vm: LiveVm,
  sentAt: number,
  run: Run,
): Promise<StepResult> {
  const { address } = step;
  await recordCreated(step, vm.id, { ...record, createdAt: isoNow(run), building: true }, run);
  const built = async (shown: LiveVm | undefined): Promise<StepResult> => {
    const fields = { ...shownByVm(step, run, shown), building: undefined };
    await run.recorder.record([{ type: "patch", address, of: vm.id, fields }]);
    return doneUnseen(...dataVolumeMade(record, fields.dataVolumeId, run), ...madePublic(record, shown));
  };
  run.progress(step, vm.id);
  // The look that found it may have shown all that is waited for.
  if (settleVm({ for: "built" }, vm).status === "settled") return built(vm);
  const { vm: settled, ...result } = await waitForVm(step, run, vm.id, { for: "built" }, sentAt);
  if (result.end !== "done")
    return result.code === "apply/vm-failed" && settled?.unsaid !== true
      ? {
          ...result,
          fix: [
            toSay(
              ["the next run offers to replace it; or ", ["apply", "--replace", address]],
              "the next run offers to replace it",
            ),
          ],
        }
      : result;
  return built(settled);
}

/** The VM's record shows which volume was made with it, and no size. */
function dataVolumeMade({ sizeGb }: Create["record"], id: string | undefined, run: Run): StepWrite[] {
  if (id === undefined || sizeGb === undefined || !run.ports.client.can.canFindCreated("volume")) return [];
  return [{ kind: "volume", id, field: "size", value: String(sizeGb), said: `size: ${sizeGb}`, ofCreate: true }];
}

/** It was to have no public address, and shows one. */
export const madePublic = (
  { skipFloatingIp }: { readonly skipFloatingIp?: boolean | undefined },
  vm: LiveVm | undefined,
): StepWrite[] =>
  skipFloatingIp !== true || vm?.floatingIp === undefined
    ? []
    : [
        {
          ...({ kind: "vm", id: vm.id, field: "skip_floating_ip", value: "true" } as const),
          said: `skip_floating_ip: true; its address is ${vm.floatingIp}`,
          ofCreate: true,
        },
      ];

/** The VM was created, and a person has to say which one it is. */
async function idUnknown(step: Create, record: Create["record"], run: Run): Promise<StepResult> {
  const { address } = step;
  await recordCreated(step, undefined, record, run);
  return {
    end: "waiting",
    code: "apply/id-unknown",
    message: "it is being created, and this service gives no way to learn its id",
    fix: fixText(toRun(["import", address, "ID"])),
  };
}
