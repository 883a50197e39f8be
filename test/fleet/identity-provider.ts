/**
 * Providers of identities on loopback. One is a real implementation, with its own idea of everything; the other is made
 * here and lies when told to.
 */
import { createHash, createSign, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import { closeHere, listenHere } from "../support/loopback";

export interface IdentityProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly groups: readonly string[];
}

export const clientSecret = "canary-client-53cr3t";

/** What is used of the package; it brings no types of its own. */
type ProviderPackage = new (
  issuer: string,
  configuration: object,
) => {
  proxy: boolean;
  callback(): RequestListener;
  interactionDetails(request: IncomingMessage, response: unknown): Promise<{ prompt: { name: string } }>;
};

/** Its sign-in form asks for a name and a password, and takes any password; then it asks for consent. */
export async function startIdentityProvider(people: readonly Person[], redirectUri: string): Promise<IdentityProvider> {
  const loaded: { default: ProviderPackage } = createRequire(__filename)("oidc-provider");
  let handle: RequestListener = (_, response) => response.end();
  const server = createServer((request, response) => handle(request, response));
  const issuer = await listenHere(server);
  const provider = new loaded.default(issuer, {
    clients: [
      {
        client_id: "fleet",
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
    findAccount: (_: unknown, sub: string) => {
      const person = people.find((one) => one.sub === sub);
      return person === undefined ? undefined : { accountId: sub, claims: () => ({ ...person, email_verified: true }) };
    },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ["not a secret: this is a test"] },
    ttl: { Session: 600, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  handle = provider.callback();
  return { issuer, close: () => closeHere(server) };
}

/** What it says instead of the truth. */
export interface Lies {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that it does not publish. */
  readonly otherKey?: boolean;
  /** What stands in the answer that the browser brings. */
  readonly iss?: string;
}

/** Signs everybody in at once. `lies` is asked at each sign-in. */
export async function startLyingProvider(lies: () => Lies): Promise<IdentityProvider> {
  const [mine, other] = [
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ];
  const asked = new Map<string, { readonly nonce: string; readonly challenge: string }>();
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = (claims: object, key: typeof mine.privateKey): string => {
    const text = `${part({ alg: "RS256", kid: "1" })}.${part(claims)}`;
    return `${text}.${createSign("sha256").update(text).sign(key).toString("base64url")}`;
  };
  let issuer = "";
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const json = (code: number, body: object): void =>
      void response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
    const { claims = {}, otherKey = false, iss } = lies();
    if (url.pathname === "/.well-known/openid-configuration")
      return json(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        authorization_response_iss_parameter_supported: true,
      });
    if (url.pathname === "/keys")
      return json(200, { keys: [{ ...mine.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }] });
    if (url.pathname === "/authorize") {
      const code = createHash("sha256").update(String(Math.random())).digest("hex");
      asked.set(code, {
        nonce: url.searchParams.get("nonce") ?? "",
        challenge: url.searchParams.get("code_challenge") ?? "",
      });
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.search = String(
        new URLSearchParams({ code, state: url.searchParams.get("state") ?? "", iss: iss ?? issuer }),
      );
      return void response.writeHead(302, { location: back.href }).end();
    }
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const known = asked.get(form.get("code") ?? "");
    asked.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (known === undefined || known.challenge !== challenge) return json(400, { error: "invalid_grant" });
    const now = Math.floor(Date.now() / 1000);
    const idToken = {
      iss: issuer,
      aud: "fleet",
      sub: "1",
      email: "mallory@example.com",
      nonce: known.nonce,
      iat: now,
      exp: now + 300,
      ...claims,
    };
    return json(200, {
      access_token: "canary-access-t0ken",
      token_type: "Bearer",
      id_token: signed(idToken, otherKey ? other.privateKey : mine.privateKey),
    });
  });
  issuer = await listenHere(server);
  return { issuer, close: () => closeHere(server) };
}
