import { describe, expect, it } from "vitest";
import { expandBlocks } from "../../reconciler/config/blocks";
import { collectProblems } from "../../reconciler/config/problems";
import { type OpenFile, readDesired } from "../../reconciler/config/read/desired";
import type { DesiredGroup, DesiredVolume } from "../../reconciler/core/model/desired";
import { head, resourceOf } from "../support/desired-file";

const tier = `component: 1
parameters: { count: { type: number, default: 2 }, admit: { type: list, of: cidr, default: [10.0.0.0/8] }, peer: { default: none } }
vms: { web: { for_each: "\${param.count}", name: "\${component}-web-\${each}" } }
volumes: { data: { for_each: "\${param.count}", name: "\${component}-data-\${each}", size: 5, attach_to: "web[\${each}]" } }
groups:
  web:
    name: "\${component}-web"
    description: "for \${param.peer}"
    rules: [{ protocol: tcp, dst_port: 443, remote_ip: "\${param.admit}" }, { protocol: udp, remote_group: self }]
outputs:
  group: { value: "\${group.web}", description: who serves }
  first: "\${vm.web[0]}"
  count: "\${param.count}"
  addresses: "\${vm.web[*].private_ip}"
`;
const nested = `component: 1
parameters: { zones: { type: list } }
components: { zone: { from: ./tier.yaml, for_each: "\${param.zones}", with: { count: 1 } } }
outputs: { group: "\${component.zone[x1].group}", addresses: "\${component.zone[*].addresses}" }
`;
const read = (body: string, more: Record<string, string> = {}) => {
  const files: Record<string, string> = { "./tier.yaml": tier, "./nested.yaml": nested, ...more };
  const open: OpenFile = (path) => {
    const found = files[path];
    return found === undefined
      ? { problem: `there is no file ${path}` }
      : { source: { file: path.slice(2), text: found } };
  };
  return readDesired([{ file: "reconcile.yaml", text: head + body }], { open });
};
const desired = (body: string, more?: Record<string, string>) => {
  const result = read(body, more);
  if (result.desired === undefined || result.diagnostics.length > 0)
    throw new Error(JSON.stringify(result.diagnostics, undefined, 1));
  return result.desired;
};
const headLines = head.split("\n").length - 1;
const problems = (body: string, more?: Record<string, string>) =>
  read(body, more).diagnostics.map(({ source, summary, detail, fix }) => {
    const line =
      source === undefined
        ? "-"
        : source.file === "reconcile.yaml"
          ? `${source.line - headLines}`
          : `${source.file}:${source.line}`;
    return `${line} ${summary} | ${detail ?? "-"} | ${fix ?? "-"}`;
  });

describe("a component", () => {
  it("is its resources under its own addresses and names, once for each use", () => {
    const world = desired(
      `components: { shop: { from: ./tier.yaml, with: { count: 1 } }, eu: { from: ./tier.yaml, for_each: [a, b], with: { count: 1 } } }`,
    );
    expect(world.resources.map(({ address, name }) => `${address}=${name}`)).toEqual([
      ...["eu[a]/group.web=eu-a-web", "eu[a]/vm.web[0]=eu-a-web-0", "eu[a]/volume.data[0]=eu-a-data-0"],
      ...["eu[b]/group.web=eu-b-web", "eu[b]/vm.web[0]=eu-b-web-0", "eu[b]/volume.data[0]=eu-b-data-0"],
      ...["shop/group.web=shop-web", "shop/vm.web[0]=shop-web-0", "shop/volume.data[0]=shop-data-0"],
    ]);
    expect(resourceOf<DesiredVolume>(world, "eu[b]/volume.data[0]").attachTo).toEqual({ address: "eu[b]/vm.web[0]" });
    expect(resourceOf<DesiredGroup>(world, "shop/group.web").rules.map(({ remote }) => remote)).toContainEqual({
      kind: "group",
      group: { address: "shop/group.web" },
    });
  });
  it("names each file that was opened for it, once", () => {
    const shop = "{ from: ./nested.yaml, with: { zones: [x1] } }";
    const { opened } = read(`components: { shop: ${shop}, other: ${shop} }`);
    expect(opened?.map(({ file }) => file)).toEqual(["nested.yaml", "tier.yaml"]);
  });
  it("hands out references and values, and is handed them", () => {
    const world = desired(`
components:
  shop: { from: ./tier.yaml, with: { count: 3, peer: "\${group.own}" } }
  eu: { from: ./tier.yaml, for_each: { a: 1 }, with: { count: "\${each.value}", peer: "\${component.shop.first}" } }
groups:
  own:
    description: "\${component.shop.count} of \${component.eu[a].first}"
    rules:
      - { protocol: tcp, remote_group: "\${component.shop.group}" }
      - { protocol: udp, dst_port: 53, remote_ip: "\${component.eu[*].addresses}" }
volumes: { logs: { size: 1, attach_to: "\${component.shop.first}" } }`);
    const own = resourceOf<DesiredGroup>(world, "group.own");
    expect(own.description).toBe("3 of eu[a]/vm.web[0]");
    expect(own.rules.map(({ remote }) => remote)).toEqual(
      expect.arrayContaining([
        { kind: "group", group: { address: "shop/group.web" } },
        expect.objectContaining({ kind: "computed" }),
      ]),
    );
    expect(resourceOf<DesiredVolume>(world, "volume.logs").attachTo).toEqual({ address: "shop/vm.web[0]" });
    expect(resourceOf<DesiredGroup>(world, "shop/group.web").description).toBe("for group.own");
  });
  it("may hold others, whose names and addresses tell the whole way", () => {
    const world = desired(`
components: { eu: { from: ./nested.yaml, with: { zones: [x1, x2] } } }
groups: { own: { rules: [{ protocol: tcp, remote_group: "\${component.eu.group}" }] } }`);
    expect(world.resources.map(({ address, name }) => `${address}=${name}`)).toContain(
      "eu/zone[x2]/vm.web[0]=eu-zone-x2-web-0",
    );
    expect(resourceOf<DesiredGroup>(world, "group.own").rules[0]?.remote).toEqual({
      kind: "group",
      group: { address: "eu/zone[x1]/group.web" },
    });
  });
  it("has the defaults of the file, with the file's variables, below its own", () => {
    const own = `component: 1\nparameters: {}\ndefaults: { vm: { size: 7 } }\nvms: { app: { name: app-1 } }\n`;
    const world = readDesired(
      [
        {
          file: "reconcile.yaml",
          text: `version: 1\nproject: acme\nregion: r1\nvars: { f: { default: m1.large } }\ndefaults: { vm: { owner: o@x.example, user_id: "1", image_id: img, flavor_id: "\${var.f}", size: 3 } }\ncomponents: { one: { from: c.yaml } }\n`,
        },
      ],
      { open: () => ({ source: { file: "c.yaml", text: own } }) },
    );
    expect(world.diagnostics).toEqual([]);
    expect(world.desired?.resources[0]).toMatchObject({ flavor: "m1.large", sizeGb: 7, project: "acme" });
  });
  it("that is not enabled is not there", () => {
    expect(desired("components: { shop: { from: ./tier.yaml, enabled: false } }").resources).toEqual([]);
  });

  it.each([
    [
      "a file that is not there",
      "components: { shop: { from: ./gone.yaml } }",
      "1 there is no file ./gone.yaml | - | -",
    ],
    [
      "a misspelt parameter",
      "components: { shop: { from: ./tier.yaml, with: { cuont: 1 } } }",
      "1 the component has no parameter cuont | it has count, admit, peer | write count",
    ],
    [
      "a missing one",
      "components: { eu: { from: ./nested.yaml } }",
      "1 the parameter zones has no value and no default | in the component eu, used in reconcile.yaml:5 | give it where the component is used: with: { zones: … }",
    ],
    [
      "one of the wrong type",
      "components: { shop: { from: ./tier.yaml, with: { count: many } } }",
      '1 the parameter count cannot be "many" | expected a number; in the component shop, used in reconcile.yaml:5 | -',
    ],
    [
      "an output that there is not",
      "components: { shop: { from: ./tier.yaml } }\ngroups: { own: { rules: [{ remote_group: '${component.shop.gruop}' }] } }",
      "2 the component shop has no output gruop | it hands out group, first, count, addresses | write ${component.shop.group}",
    ],
    [
      "an output of one that is not enabled",
      "components: { shop: { from: ./tier.yaml, enabled: false } }\noutputs: { own: '${component.shop.first}' }",
      "2 the component shop is not enabled | its block says enabled: false, as if it were not written | give what names it the same enabled, or enable it",
    ],
    [
      "names that two uses share, of a block with for_each",
      "components: { a1: { from: ./plain.yaml }, b1: { from: ./plain.yaml } }",
      expect.stringContaining('put ${component} into the name: name: "${component}-web-${each}"'),
    ],
    [
      "a component that there is not",
      "components: { shop: { from: ./tier.yaml } }\ngroups: { own: { rules: [{ remote_group: '${component.shp.group}' }] } }",
      "2 no component shp is used here | there is shop | write ${component.shop.group}",
    ],
    [
      "a component whose key stands in the word for one",
      "components: { comps: { from: ./tier.yaml } }\ngroups: { own: { rules: [{ remote_group: '${component.comp.group}' }] } }",
      "2 no component comp is used here | there is comps | write ${component.comps.group}",
    ],
    [
      "an output of one of several",
      "components: { eu: { from: ./tier.yaml, for_each: [a] } }\ngroups: { own: { rules: [{ remote_group: '${component.eu.group}' }] } }",
      "2 the component eu has a for_each: the reference must name one of its keys | its keys are a | write ${component.eu[a].OUTPUT}, or ${component.eu[*].OUTPUT} for a list of all",
    ],
    [
      "what it did not hand out",
      "components: { shop: { from: ./tier.yaml } }\ngroups: { own: { rules: [{ remote_group: shop/group.web }] } }",
      '2 remote_group cannot be "shop/group.web" | expected a group by its key | names in a component are its own: let it hand the group out (outputs: { NAME: "${group.web}" }), and write ${component.shop.NAME}',
    ],
    [
      "a value of a resource in the place of one",
      "groups: { own: { name: own-1 }, app: { rules: [{ remote_group: '${group.own.id}' }] } }",
      "1 ${group.own.id} is a value, and here a group is named | expected a group by its key | write own",
    ],
    [
      "a value of a resource that is handed out",
      "components: { shop: { from: ./tier.yaml } }\noutputs: { id: '${component.shop.group.id}' }",
      '2 ${component.shop.group} has no id | it is "shop/group.web" | -',
    ],
    [
      "a circle of outputs",
      "components: { a1: { from: ./tier.yaml, with: { peer: '${component.b1.first}' } }, b1: { from: ./tier.yaml, with: { peer: '${component.a1.first}' } } }",
      "1 the component a1 is made of its own outputs | component.a1 -> component.b1 -> component.a1 | hand one of them something that does not come from the others",
    ],
    [
      "a key that only the service knows",
      "components: { all: { from: ./nested.yaml, with: { zones: ['${group.own.id}'] } } }\ngroups: { own: { name: own-1 } }",
      expect.stringContaining("nested.yaml:3 a key of for_each cannot be ${group.own.id} | expected text or a number"),
    ],
    [
      "a key that is a resource",
      "components: { all: { from: ./nested.yaml, with: { zones: ['${group.own}'] } } }\ngroups: { own: { name: own-1 } }",
      expect.stringContaining("nested.yaml:3 a key of for_each cannot be group.own | expected text or a number"),
    ],
    [
      "a misspelt key of its use",
      "components: { shop: { form: ./tier.yaml } }",
      expect.stringContaining("the key form is not known here"),
    ],
  ])("refuses %s", (_, body, expected) => {
    const plain = "component: 1\nvms: { web: { for_each: 2 } }";
    expect(problems(body, { "./plain.yaml": plain })).toContainEqual(expected);
  });
  it("hands out nothing that is declared nowhere, be it used or not", () => {
    const own = `component: 1
parameters: { isOn: { type: boolean, default: false }, of: { default: a } }
groups:
  web: { enabled: "\${param.isOn}" }
  all: { for_each: ["\${param.of}"] }
components:
  in: { from: ./inner.yaml, enabled: "\${param.isOn}" }
  two: { from: ./inner.yaml }
  each: { from: ./inner.yaml, for_each: ["\${param.of}"] }
outputs:
  fine: ["\${group.web.id}", "\${group.web.typo}", "\${group.all[b].id}", "\${group.all[*].id}", "\${group.all[\${param.of}].id}"]
  well: { value: ["\${component.in.web}", "\${component.two.web}", "\${component.each[b].web}", "\${param.of.x}", "\${env}"] }
  a: "x-\${group.wob.id}"
  b: { value: { x: ["\${vm.web[*].id}"] } }
  c: "\${group.all[\${param.of}].id}-\${group.alles[\${param.of}].id}"
  d: "\${group.all[*].idd}"
  e: "\${param.off}"
  f: "\${component.inn.web}"
  g: "\${component.two.wob}"
  h: "\${component.each[*].wob}"
  i: "\${var.of}"
`;
    const inner = `component: 1
parameters: { isOn: { type: boolean, default: false } }
groups: { web: { enabled: "\${param.isOn}" } }
outputs: { web: "\${group.web.id}" }
`;
    const files = { "./own.yaml": own, "./inner.yaml": inner };
    const told = (body: string) => problems(body, files).map((problem) => problem.split(" | ")[0]);
    const expected = [
      "own.yaml:13 shop/group.wob is not declared",
      "own.yaml:14 shop/vm.web is not declared",
      "own.yaml:15 shop/group.alles[a] is not declared",
      "own.yaml:16 ${group.all[*].idd} is not known",
      "own.yaml:17 no parameter off is declared",
      "own.yaml:18 no component inn is used here",
      "own.yaml:19 the component two has no output wob",
      "own.yaml:20 the component each[a] has no output wob",
      "own.yaml:21 ${var.of} has no meaning in a component",
    ];
    expect(told("components: { shop: { from: ./own.yaml } }")).toEqual(expected);
    // What is used as well is told once.
    expect(told("components: { shop: { from: ./own.yaml } }\noutputs: { one: '${component.shop.a}' }")).toEqual(
      expected,
    );
  });
  it("makes, together with all others, no more than a file alone may", () => {
    const made = { count: 0 };
    const expand = (within: string, count: number) => {
      const source = { file: `${within}.yaml`, text: "", root: {} };
      const problems = collectProblems();
      const entries = [{ key: "v", value: { for_each: count }, source }];
      const room = { within, use: undefined, made };
      expandBlocks("volume", entries, { values: {}, layers: [] }, { vars: new Map() }, problems, room);
      return problems.diagnostics.map(({ summary, detail }) => `${summary} | ${detail}`);
    };
    expect(expand("a/", 199_990)).toEqual([]);
    expect(expand("b/", 20)).toEqual(["for_each makes too many instances | at most 10 more are possible here"]);
  });
  it("lies in at most a hundred others", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 3000 }, (_, n) => [
        `./c${n}.yaml`,
        `component: 1\ncomponents: { n: { from: ./c${n + 1}.yaml } }\n`,
      ]),
    );
    expect(problems("components: { a: { from: ./c0.yaml } }", chain)).toEqual([
      expect.stringMatching(/c99\.yaml:2 the component a\/n\/.* is used by 100 others, one through the other/),
    ]);
  });
  it("is chosen by each of its uses, and told at once with all that is wrong in it", () => {
    const world = desired(
      `components: { eu: { from: "./\${each.value}.yaml", for_each: { a: tier }, with: { count: 1 } } }`,
    );
    expect(world.resources.map(({ address }) => address)).toContain("eu[a]/vm.web[0]");
    const broken = problems("components: { eu: { from: ./none.yaml } }", { "./none.yaml": "vmss: {}\ngroups: {}" });
    expect(broken.map((problem) => problem.split(" | ")[2])).toEqual(["write component: 1", "write vms"]);
  });
  /** Values of other rooms where a rule names a resource or an address: what the fix says can be written there. */
  it.each([
    ["of the component itself", "vm: ${vm.web.id}", "write ${vm.web.private_ip}"],
    [
      "of a component in it",
      "vm: ${component.inner.id}",
      'names in a component are its own: let it hand the private_ip out (outputs: { NAME: "${vm.one.private_ip}" }), and write ${component.inner.NAME}',
    ],
    [
      "that a parameter brings",
      "vm: ${param.ip}",
      'hand it to the component where that is used: with: { NAME: "${vm.own.private_ip}" }',
    ],
    ["of a group of its own", "group: ${group.web.id}", "write web"],
    [
      "of a group in a component in it",
      "group: ${component.inner.group}",
      'names in a component are its own: let it hand the group out (outputs: { NAME: "${group.one}" }), and write ${component.inner.NAME}',
    ],
    [
      "of a group that a parameter brings",
      "group: ${param.group}",
      'hand it to the component where that is used: with: { NAME: "${group.own}" }',
    ],
  ])("names a value %s as it is written in its file", (_, used, fix) => {
    const key = used.startsWith("vm") ? "remote_ip" : "remote_group";
    const outer = `component: 1
parameters: { ip: {}, group: {} }
components: { inner: { from: ./inner.yaml } }
vms: { web: { name: "\${component}-w" } }
groups: { web: { name: "\${component}-web", description: "\${param.ip}\${param.group}", rules: [{ ${key}: "${used.slice(used.indexOf("${"))}" }] } }
`;
    const inner = `component: 1
vms: { one: { name: "\${component}-1" } }
groups: { one: { name: "\${component}-1" } }
outputs: { id: "\${vm.one.id}", group: "\${group.one.id}" }
`;
    const body =
      "components: { shop: { from: ./outer.yaml, with: { ip: '${vm.own.id}', group: '${group.own.id}' } } }\nvms: { own: }\ngroups: { own: }";
    const [problem = ""] = problems(body, { "./outer.yaml": outer, "./inner.yaml": inner });
    expect(problem.slice(problem.lastIndexOf(" | ") + 3)).toBe(fix);
    expect(problem).not.toContain("shop/");
  });
  it.each([
    [
      "a parameter that nothing uses",
      "parameters: { spare: {} }\n",
      "c.yaml:2 nothing uses the parameter spare | used as a component in reconcile.yaml:5 | use it as ${param.spare}, or take it out",
    ],
    [
      "one that is not declared",
      "parameters: { count: { default: 1 } }\nvms: { web: { for_each: '${param.cuont}' } }\n",
      "c.yaml:3 no parameter cuont is declared | in the component shop, used in reconcile.yaml:5 | write ${param.count}",
    ],
    [
      "an instance of its own that is not named",
      "vms: { web: { for_each: 1 } }\nvolumes: { data: { size: 5, attach_to: vm.web } }\n",
      "c.yaml:3 shop/vm.web has a for_each: the reference must name one of its keys | its keys are 0; in the component shop, used in reconcile.yaml:5 | write vm.web[0]",
    ],
    [
      "the address of one",
      "vms: { web: { for_each: 1 } }\ngroups: { own: { description: '${vm.web.private_ip}' } }\n",
      "c.yaml:3 shop/vm.web has a for_each: the reference must name one of its keys | its keys are 0; in the component shop, used in reconcile.yaml:5 | write ${vm.web[0]…}, or ${vm.web[*]…} for a list of all",
    ],
    [
      "a variable of the file",
      "vms: { web: { name: '${var.x}' } }\n",
      'c.yaml:2 ${var.x} has no meaning in a component | a component sees its parameters, and no variables of the file that uses it; in the component shop, used in reconcile.yaml:5 | declare a parameter and pass it: with: { x: "${var.x}" }',
    ],
    [
      "a misspelt field",
      "vms: { web: { flavour_id: m1 } }\n",
      expect.stringContaining("c.yaml:2 the key flavour_id is not known here | expected one of"),
    ],
    [
      "a name of the file outside",
      "volumes: { data: { size: 1, attach_to: outer } }\n",
      expect.stringContaining("c.yaml:2 shop/vm.outer is not declared"),
    ],
    [
      "itself",
      "components: { again: { from: ./c.yaml } }\n",
      "c.yaml:2 the component shop/again is made of itself | c.yaml -> c.yaml; in the component shop, used in reconcile.yaml:5 | use another file here",
    ],
    [
      "a section that it cannot have",
      "imports: []\n",
      expect.stringContaining("c.yaml:2 the key imports is not known here"),
    ],
  ])("refuses in its file %s, with both places", (_, body, expected) => {
    const found = problems("components: { shop: { from: ./c.yaml } }\nvms: { outer: }", {
      "./c.yaml": `component: 1\n${body}`,
    });
    expect(found).toContainEqual(expected);
  });
  it("says what is wrong at one place once, in the most precise words", () => {
    const file = "component: 1\ngroups: { web: { name: gx } }\n";
    expect(problems("components: { shop: { from: ./c.yaml } }", { "./c.yaml": file })).toEqual([
      expect.stringContaining("c.yaml:2 the name gx is 2 characters long"),
    ]);
  });
  it("refuses a file that is no component", () => {
    expect(problems("components: { shop: { from: ./c.yaml } }", { "./c.yaml": "version: 1\n" })).toContainEqual(
      expect.stringContaining("c.yaml:1 the file is no component"),
    );
  });
  it("refuses two uses whose names collide, with all four places", () => {
    const same = "component: 1\nvms: { web: { name: web-1 } }\n";
    expect(problems("components: { a1: { from: ./c.yaml }, b1: { from: ./c.yaml } }", { "./c.yaml": same })).toEqual([
      'c.yaml:2 two vms have the name web-1 | a1/vm.web in c.yaml:2 (used in reconcile.yaml:5) and b1/vm.web in c.yaml:2 (used in reconcile.yaml:5); in the component b1, used in reconcile.yaml:5 | put ${component} into the name: name: "${component}-web"',
    ]);
  });
});

describe("moves, removals and imports", () => {
  const uses = "components: { store: { from: ./tier.yaml }, asia: { from: ./tier.yaml, for_each: [a] } }\n";
  it("take a whole component, and addresses in one", () => {
    const world = desired(`${uses}
moved: [{ from: shop/, to: store/ }, { from: eu/, to: asia/ }, { from: vm.old, to: "store/vm.web[0]" }]
removed: [{ from: gone/ }, { from: "gone2[a]/vm.x" }]
imports: [{ to: "asia[a]/vm.web[1]", id: v-1 }]`);
    expect(world.moved.map(({ from, to }) => `${from} ${to}`)).toEqual([
      "shop/ store/",
      "eu/ asia/",
      "vm.old store/vm.web[0]",
    ]);
    expect(world.removed.map(({ from }) => from)).toEqual(["gone/", "gone2[a]/vm.x"]);
    expect(world.imports.map(({ to }) => to)).toEqual(["asia[a]/vm.web[1]"]);
  });
  it("are followed through a component that was renamed since", () => {
    const moved = "moved: [{ from: vm.web, to: shop/vm.web }, { from: shop/, to: mid/ }, { from: mid/, to: store/ }]";
    expect(desired(`${uses}\n${moved}`).moved).toMatchObject([
      { from: "vm.web", to: "store/vm.web" },
      { from: "shop/", to: "store/" },
      { from: "mid/", to: "store/" },
    ]);
  });
  it("take the component of before its for_each to one of its instances", () => {
    expect(desired(`${uses}\nmoved: [{ from: asia/, to: "asia[a]/" }]`).moved).toMatchObject([
      { from: "asia/", to: "asia[a]/" },
    ]);
  });
  it.each([
    [
      "moved: [{ from: shop/, to: stroe/ }]",
      "2 there is no component stroe/ | there is store/, asia[a]/ | write store/",
    ],
    ["moved: [{ from: shop/, to: vm.x }]", expect.stringMatching(/2 shop\/ cannot become vm\.x .*take the move out/)],
    ["moved: [{ from: asia/, to: store/ }]", expect.stringContaining("2 asia/ is moved, and still declared")],
    ["moved: [{ from: a/, to: a/b/ }]", expect.stringContaining("2 the moves from a/ go round in a circle")],
    ["moved: [{ from: shop, to: store/ }]", expect.stringContaining("write shop/ for the whole component")],
    ["removed: [{ from: store/ }]", expect.stringContaining("2 store/ is removed, and still declared")],
    [
      "imports: [{ to: store/vm.wbe, id: x }]",
      expect.stringContaining("2 store/vm.wbe is not declared | - | write store/vm.web"),
    ],
    [
      "imports: [{ to: stor/vm.web, id: x }]",
      "2 there is no component stor/ | there is store/, asia[a]/ | write store/vm.web",
    ],
  ])("refuse %s", (body, expected) => {
    expect(problems(uses + body)).toEqual([expected]);
  });
});
