/** A service that attaches after it has answered, whose answer is lost: the attach is looked for, and never sent again. */
import { afterEach, expect, it } from "vitest";
import { nothing } from "../support/other-services/other-service";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const world = (attach: string): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 3s } }
vms: { one: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
volumes: { data: { size: 7${attach} } }
`;

it.each([80, 300, 1500].flatMap((takesMs) => [true, false].map((shows) => ({ takesMs, shows }))))(
  "an attach that takes $takesMs ms is sent once (a word says so: $shows)",
  async ({ takesMs, shows }) => {
    let underWay = false;
    let attached = false;
    const refusal = (message: string) => ({ status: shows ? 409 : 422, body: { error: { code: 9, message } } });
    here = await standAtTheDoor({
      hear({ operation, body }, truth) {
        if (operation !== "volume.attach") return undefined;
        if (attached) return refusal("the volume is already attached");
        if (underWay) return refusal("another operation is under way");
        underWay = true;
        setTimeout(
          () =>
            void truth
              .change((now) => ({
                ...now,
                volumes: now.volumes.map((one) =>
                  one.id === body["volume_id"] ? { ...one, attached_to: String(body["vm_id"]) } : one,
                ),
              }))
              .then(() => {
                attached = true;
              }),
          takesMs,
        );
        return nothing;
      },
      tell({ operation }, answer) {
        if (operation !== "volume.get" || !shows || !underWay || attached) return undefined;
        const record = (answer.body as { data?: object }).data ?? answer.body;
        return { status: 200, body: { data: { ...(record as object), status: "attaching" } } };
      },
    });
    here.write("reconcile.yaml", world(""));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    here.write("reconcile.yaml", world(", attach_to: one"));
    const ran = await here.reconcile("apply", "-y");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(here.door.heard.filter(({ asked }) => asked.operation === "volume.attach")).toHaveLength(1);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  },
);
