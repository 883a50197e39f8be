import { describe, expect, it } from "vitest";
import { type OpenFile, type ReadOptions, readDesired } from "../../reconciler/config/read/desired";
import type { Desired, DesiredVm } from "../../reconciler/core/model/desired";

const text = `version: 1
project: acme
region: in-west-1
state: "states/\${env}.json"
service: { base_url: https://one.example, timing: { poll_interval: 1s, request_timeout: 9s } }
vars: { tier: { one_of: [small, large] }, title: { default: "\${var.tier}-\${env}" } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: img-1, flavor_id: m1.small, size: 10, lifecycle: { on_image_change: ignore } } }
environments:
  dev: { vars: { tier: small }, state: here.json }
  prod:
    vars: { title: "big-\${var.tier}" }
    vars_file: "\${env}.vars.yaml"
    project: acme-prod
    service: { base_url: https://two.example, timing: { poll_interval: 5s } }
    protect: true
    defaults: { vm: { flavor_id: m1.large, lifecycle: { preserved_volumes: delete } } }
vms:
  web: { name: "\${var.title}" }
  tmp: { lifecycle: { prevent_destroy: false } }
`;
const files: Record<string, string> = { "prod.vars.yaml": "{ tier: large, title: overridden }" };
const open: OpenFile = (path) => {
  const found = files[path];
  return found === undefined ? { problem: `there is no file ${path}` } : { source: { file: path, text: found } };
};
const read = (options: ReadOptions, file = text) =>
  readDesired([{ file: "reconcile.yaml", text: file }], { open, ...options });
function desiredFor(options: ReadOptions): Desired {
  const { desired, diagnostics } = read(options);
  if (desired === undefined) throw new Error(JSON.stringify(diagnostics));
  return desired;
}
const vmOf = ({ resources }: Desired, address: string): DesiredVm => {
  const found = resources.find((each) => each.address === address);
  if (found?.kind !== "vm") throw new Error(`no ${address}`);
  return found;
};
const problems = (options: ReadOptions, file = text) =>
  read(options, file).diagnostics.map(
    ({ source, summary, detail, fix }) => `${source?.line ?? "-"} ${summary} | ${detail ?? "-"} | ${fix ?? "-"}`,
  );

describe("an environment", () => {
  it("goes over the file, field by field", () => {
    const prod = desiredFor({ env: "prod" });
    expect(prod).toMatchObject({
      environment: "prod",
      isProtected: true,
      project: "acme-prod",
      state: { location: "states/prod.json" },
      service: { baseUrl: "https://two.example", timing: { pollIntervalMs: 5000, requestTimeoutMs: 9000 } },
    });
    expect(vmOf(prod, "vm.web")).toMatchObject({
      name: "big-large",
      flavor: "m1.large",
      project: "acme-prod",
      lifecycle: { preventDestroy: true, onImageChange: "ignore", preservedVolumes: "delete" },
    });
    expect(vmOf(prod, "vm.tmp").lifecycle.preventDestroy).toBe(false);
  });
  it("leaves the file as it is where it says nothing", () => {
    const dev = desiredFor({ env: "dev" });
    expect(dev).toMatchObject({ environment: "dev", project: "acme", state: { location: "here.json" } });
    expect(dev).not.toHaveProperty("isProtected");
    expect(vmOf(dev, "vm.web")).toMatchObject({
      name: "small-dev",
      flavor: "m1.small",
      lifecycle: { preventDestroy: false },
    });
  });
  it("gives variables their values below what is given from outside", () => {
    expect(vmOf(desiredFor({ env: "prod", vars: { title: "from-cli" } }), "vm.web").name).toBe("from-cli");
    expect(vmOf(desiredFor({ env: "prod", environment: { tier: "small" } }), "vm.web").name).toBe("big-small");
  });
  it("a variable with nothing behind it leaves the value that is given otherwise", () => {
    const text = `version: 1
vars: { a: { default: none }, b: { default: none }, c: { default: none } }
environments: { prod: { vars_file: v.yaml, vars: { a: } } }
outputs: { all: "\${var.a} \${var.b} \${var.c}" }
`;
    const { desired, diagnostics } = readDesired([{ file: "f.yaml", text }], {
      env: "prod",
      environment: { b: "shell" },
      varFiles: ["b: \nc: first\n", "c:\n"].map((own, at) => ({ file: `${at}.yaml`, text: own })),
      open: () => ({ source: { file: "v.yaml", text: "a: file\n" } }),
    });
    expect(diagnostics).toEqual([]);
    expect(desired?.outputs?.[0]?.value).toEqual({ is: "text", text: "file shell first" });
  });
  it.each([
    ["none", {}, "8 no environment is chosen | the file declares dev, prod | give --env dev, or set RECONCILE_ENV"],
    [
      "one that is not declared",
      { env: "prdo" },
      "8 there is no environment prdo | the file declares dev, prod | write --env prod",
    ],
    [
      "all, where one is needed",
      { env: "all" },
      "8 this needs one environment | the file declares dev, prod | give --env dev",
    ],
  ])("must be chosen: %s", (_, options, expected) => {
    expect(problems(options)).toEqual([expected]);
  });
  it.each<[what: string, options: { readonly env: string }, file: string, expected: string]>([
    [
      "an environment of a file that has none",
      { env: "prod" },
      "version: 1\n",
      "- there is no environment prod: the file declares none | - | leave --env and RECONCILE_ENV out, or declare it: environments: { prod: {} }",
    ],
    [
      "a variable that is not declared, also of one that is not chosen",
      { env: "dev" },
      "version: 1\nvars: { tier: { default: a } }\nenvironments: { dev: , prod: { vars: { teir: b } } }\n",
      "3 the environment prod sets a variable that is not declared: teir | - | write tier",
    ],
    [
      "a file of variables that is not there",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { vars_file: gone.yaml } }\n",
      "2 there is no file gone.yaml | - | -",
    ],
    [
      "a misspelt key",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { protekt: true } }\n",
      expect.stringContaining("the key protekt is not known here"),
    ],
    [
      "the name all",
      { env: "dev" },
      "version: 1\nenvironments: { dev: , all: }\n",
      expect.stringContaining("no environment can be called all"),
    ],
    [
      "a password in the place of the state",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { state: 'postgres://u:hush@h/db' } }\n",
      expect.stringContaining("2 state holds a password"),
    ],
    [
      "a password there that no address can have",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { state: 'postgres://u:hu/hush@h/db' } }\n",
      expect.stringContaining("2 state holds a password"),
    ],
    [
      "a place of the state that is nearly an address",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { state: s3//bucket/key } }\n",
      expect.stringContaining("2 the state s3//bucket/key is no address, and no likely file"),
    ],
    [
      "a place of the state in a home that only a shell knows",
      { env: "dev" },
      "version: 1\nenvironments: { dev: { state: ~/state.json } }\n",
      expect.stringContaining("2 the state ~/state.json is no address, and no likely file"),
    ],
    [
      "another project's state that is nearly an address, with a password",
      { env: "dev" },
      "version: 1\nenvironments: { dev: }\nreads: { net: { state: 'postgres:/u:hush@h/db' } }\n",
      expect.stringContaining("3 the state postgres:/h/db is no address, and no likely file"),
    ],
    ...[
      ["postgres:/h/db?password=hush", "postgres:/h/db"],
      ["https:/h/state?token=hush", "https:/h/state"],
      ["hush@h/api/v4/projects/1", "h/api/v4/projects/1"],
    ].map(([place, shown]): [string, { readonly env: string }, string, string] => [
      `a place of the state that is nearly ${shown}, with a secret`,
      { env: "dev" },
      `version: 1\nenvironments: { dev: { state: '${place}' } }\n`,
      expect.stringContaining(`2 the state ${shown} is no address, and no likely file`),
    ]),
  ])("refuses %s", (_, options, file, expected) => {
    expect(problems(options, file)).toEqual([expected]);
    expect(JSON.stringify(read(options, file).diagnostics)).not.toContain("hush");
  });
});
