const { DesiredState } = require("reconcile-cloud/pulumi");

const state = DesiredState.fromYaml("reconcile.yaml", { vars: { env: "prod" } });

// Every resource of the file by the address it has there, and the typed ones by their keys.
exports.ids = state.ids;
exports.databaseAddress = state.vm("db").privateIp;
