// A whole reconcile.yaml as one component, through the provider plugin, with the SDK that Pulumi writes from it:
//   npm install && pulumi package add node_modules/reconcile-cloud/bin/pulumi-resource-reconcile-cloud
const cloud = require("@reconcile-cloud/pulumi");

const site = new cloud.DesiredState("site", { files: ["reconcile.yaml"], vars: { env: "prod" } });

// Every resource of the file by the address it has there.
exports.ids = site.ids;
exports.databaseAddress = site.addresses.apply((addresses) => addresses["vm.db"].privateIp);
