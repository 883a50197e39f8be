/** Which service a resource belongs to, where the stack's configuration does not name one for all. */
import * as pulumi from "@pulumi/pulumi";
import { packageName } from "./captured";
import { refuseCredentialIn, settingNames } from "./settings";

export interface ServiceArgs {
  /** `embedded`, or the URL of the service. Else RECONCILE_BASE_URL. */
  baseUrl?: pulumi.Input<string> | undefined;
  /** The path of a dialect, or the dialect itself as JSON. Else RECONCILE_DIALECT. */
  dialect?: pulumi.Input<string> | undefined;
  /** How long to wait, as in a file: {"poll_interval":"2s"}, as JSON. */
  timing?: pulumi.Input<string> | undefined;
  /**
   * Sent as the dialect says, usually as a bearer token. RECONCILE_TOKEN is better, because then the token is in no
   * state.
   */
  token?: pulumi.Input<string> | undefined;
  /** The whole Authorization value. RECONCILE_AUTHORIZATION is better, for the same reason. */
  authorization?: pulumi.Input<string> | undefined;
  /** Permits plain http to another host than this one. */
  insecureHttp?: pulumi.Input<boolean> | undefined;
  /** The most requests at a time; 10 when left out. */
  parallelism?: pulumi.Input<number> | undefined;
  /** How much faster than a real service the embedded one is. */
  timeScale?: pulumi.Input<number> | undefined;
  /** The service has moved to this address: the state of the former address holds for the new one. */
  acceptService?: pulumi.Input<boolean> | undefined;
}

const secrets = ["token", "authorization"] as const;

type Setting = pulumi.Input<string | number | boolean>;

function sealed(args: ServiceArgs): Record<string, Setting> {
  const props: Record<string, Setting> = {};
  for (const [name, value] of Object.entries(args)) if (value !== undefined) props[name] = value;
  for (const name of secrets) {
    const value = props[name];
    if (value !== undefined) props[name] = pulumi.secret(value);
  }
  return props;
}

/** Settings that are left out come from the stack's configuration, as for resources without a provider. */
function withStackConfiguration(args: ServiceArgs): ServiceArgs {
  const config = new pulumi.Config(packageName);
  const found: { [K in keyof ServiceArgs]?: pulumi.Input<string> } = {};
  for (const name of settingNames) {
    const isSecret = secrets.some((secret) => secret === name);
    const value = args[name] === undefined ? (isSecret ? config.getSecret(name) : config.get(name)) : undefined;
    if (value !== undefined) found[name] = value;
  }
  // A setting of the stack is text, which the engine reads as the type of its setting.
  return { ...found, ...args } as ServiceArgs;
}

/** The packaged plugin `pulumi-resource-reconcile-cloud`. A resource that is given one is served by it. */
export class Provider extends pulumi.ProviderResource {
  constructor(name: string, args: ServiceArgs = {}, opts?: pulumi.ResourceOptions) {
    // Booleans and numbers travel as text in a provider's configuration.
    super(packageName, name, textual(sealed(withStackConfiguration(args))), opts);
  }
}

/** Another service for dynamic resources: a process of its own, with its own configuration. */
export class DynamicProvider extends pulumi.ProviderResource {
  constructor(name: string, args: ServiceArgs = {}, opts?: pulumi.ResourceOptions) {
    const props = Object.entries(textual(sealed(args))).map(([key, value]) => [`${packageName}:${key}`, value]);
    super("pulumi-nodejs", name, Object.fromEntries(props), opts);
  }
}

function settingText(name: string, setting: Setting): string {
  const text = String(setting);
  if (name !== "baseUrl") return text;
  try {
    refuseCredentialIn(text);
  } catch (error) {
    // Without a stack, since the program is to be corrected.
    throw new pulumi.RunError(error instanceof Error ? error.message : String(error));
  }
  return text;
}

const textual = (props: Record<string, Setting>): pulumi.Inputs =>
  Object.fromEntries(
    Object.entries(props).map(([name, value]) => [
      name,
      // What is looked up, as in another stack, may turn out not to be there: then the setting is left out.
      typeof value === "string"
        ? settingText(name, value)
        : pulumi
            .output<Setting | undefined | null>(value)
            .apply((one) => (one == null ? undefined : settingText(name, one))),
    ]),
  );
