/** Several creates whose answers are lost at once, on a service whose lists do not say where they end. */
import { afterEach, expect, it } from "vitest";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

it("each is looked for beside the run's own creates, and none is taken for a sign that the list is cut", async () => {
  let probes = 0;
  here = await standAtTheDoor({
    hear({ operation, nthOfItsKind, path }) {
      if (operation === "vm.list" && path.includes("?")) probes++;
      return operation === "vm.create" && nthOfItsKind <= 3
        ? { status: 502, headers: { "content-type": "text/html" }, text: "<html>bad gateway</html>" }
        : undefined;
    },
    tell({ operation }, answer) {
      if (operation !== "vm.list" || answer.status !== 200) return undefined;
      const body = answer.body as { data?: unknown };
      return { status: 200, body: { vms: body.data ?? body } };
    },
  });
  here.write(
    "reconcile.yaml",
    `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 300ms }
  dialect: { operations: { vm.list: { method: GET, path: /api/v1/vm/list, items: /vms } } }
vms:
  w: { for_each: 5, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
`,
  );
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  expect(here.emulator.dump().vms.map(({ name }) => name)).toHaveLength(5);
  expect(probes).toBeGreaterThan(0);
});

const oneVolumeOf = (size: number): string => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 100ms }
  dialect: { operations: { volume.list: { method: GET, path: /api/v1/volume/list } } }
volumes: { data: { size: ${size} } }
`;

it("what came under its name and is larger than it was asked for is asked about, and not made a second time", async () => {
  here = await standAtTheDoor(
    {
      tell({ operation }, answer) {
        if (operation === "volume.create")
          return { status: 502, headers: { "content-type": "text/html" }, text: "<html>" };
        if (operation !== "volume.list" || answer.status !== 200) return undefined;
        return {
          status: 200,
          body: JSON.parse(JSON.stringify(answer.body).replaceAll(/("size(?:_gb)?":"?)5/g, (_, key) => `${key}8`)),
        };
      },
    },
    { with: ["volume.list"] },
  );
  here.write("reconcile.yaml", oneVolumeOf(5));
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(1);
  expect(ran.stdout, ran.stderr).toContain("its size is 8 GB, not 5 GB");
  const [made, ...others] = here.emulator.dump().volumes;
  expect(others).toEqual([]);
  // What the next run advises ends it, with the size that the service made of it in the file.
  here.write("reconcile.yaml", oneVolumeOf(8));
  const next = await here.reconcile("apply", "-y");
  expect(next.stdout + next.stderr).toContain(`reconcile import volume.data ${made?.id}`);
  expect((await here.reconcile("import", "volume.data", `${made?.id}`)).exitCode).toBe(0);
});
