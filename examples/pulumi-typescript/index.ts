// The resources through the provider plugin, with the SDK that Pulumi writes from it:
//   npm install && pulumi package add node_modules/reconcile-cloud/bin/pulumi-resource-reconcile-cloud
import * as pulumi from "@pulumi/pulumi";
import * as cloud from "@reconcile-cloud/pulumi";

const config = new pulumi.Config();
const common = {
  imageId: "ubuntu-24.04",
  owner: "ops@acme.example",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
};

const web = new cloud.SecurityGroup("web", {
  description: "Public web tier",
  rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0", description: "HTTPS" }],
});

export const group = new cloud.SecurityGroup("database", {
  description: "Only the web tier, and the databases among themselves",
  rules: [
    { protocol: "tcp", dstPort: "5432", remoteGroup: web.id },
    { protocol: "tcp", dstPort: "5432", remoteGroup: "self" },
  ],
}).id;

// Another flavor resizes it in place: it is confirmed as soon as it runs (a check may be asked first).
const db = new cloud.Vm("db-1", {
  ...common,
  flavorId: config.get("flavor") ?? "m1.small",
  size: 10,
  verifyResize: { timeout: "1m" },
});

// Grows in place. The VM is stopped for the moment in which the volume is detached, so nothing is lost.
const data = new cloud.Volume("db-data", { size: config.getNumber("dataSize") ?? 20, flush: { via: "stop" } });
new cloud.VolumeAttachment("db-data", { vmId: db.id, volumeId: data.id, flush: { via: "stop" } });

export const addresses = ["a", "b"].map(
  (each) => new cloud.Vm(`web-${each}`, { ...common, flavorId: "m1.small", size: 10 }).floatingIp,
);
export const database = db.privateIp;
