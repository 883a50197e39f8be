/** The project that every odd service has to carry, in three chapters of its life. */
export const projectAt = (url: string, blocks: string, dialect = ""): string => `version: 1
project: acme
region: in-west-1
service: { base_url: "${url}", timing: { poll_interval: 20ms, discovery_window: 900ms, vm_create_timeout: 20s }${dialect} }
defaults: { vm: { flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops@acme.example, user_id: "1042", size: 10 } }
${blocks}`;

const tcp = (port: number, more = "") => `{ protocol: tcp, dst_port: ${port}${more} }`;
const ask = "flush: { via: ask }";

export const chapters: readonly string[] = [
  `vms: { web: {}, base: { name: db-1 } }
volumes: { data: { size: 20, attach_to: base, ${ask} }, spare: { size: 5, ${ask} } }
groups: { front: { description: first, rules: [${tcp(443)}, ${tcp(80)}] }, back: { rules: [${tcp(5432, ", remote_group: front")}] } }
`,
  `vms: { web: { flavor_id: m1.medium }, base: { name: base } }
volumes: { data: { size: 30, attach_to: base, ${ask} }, spare: { size: 8, attach_to: web, ${ask} } }
groups: { front: { name: edge, description: second, rules: [${tcp(443)}] }, back: { rules: [${tcp(5432, ", remote_group: front")}, ${tcp(22)}] } }
`,
  `vms: { web: { flavor_id: m1.medium, image_id: debian-12 }, base: { name: base, power: stopped } }
volumes: { data: { size: 30, attach_to: web, ${ask} }, spare: { size: 8, ${ask} } }
groups: { front: { name: edge, rules: [${tcp(443)}, ${tcp(8443)}] } }
`,
];
