/**
 * People as a provider of identities knows them, by OpenID Connect: the code flow with PKCE, a state and a nonce, and
 * the ID token's signature looked at. Everything the fleet knows of openid-client is in this file.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Claims } from "./access";
import { requirePackage } from "./database/open";
import type { SecretSource, SignIn } from "./model";
import { readSecret } from "./secrets";
import { steadyNow } from "./steady";

type OpenidClient = typeof import("openid-client");
type Configuration = Awaited<ReturnType<OpenidClient["discovery"]>>;

/** The values that prove one sign-in. All follow from one secret, which only the person's browser keeps. */
export interface Proof {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export const newSignInSecret = (): string => randomBytes(32).toString("base64url");

export const proofFrom = (secret: string): Proof => {
  const part = (name: string): string => createHash("sha256").update(`${name}:${secret}`).digest("base64url");
  return { state: part("state"), nonce: part("nonce"), verifier: part("verifier") };
};

export const donePath = "/sign-in/done";

export interface IdentityProvider {
  /** Answers with the address to which the browser goes. */
  begin(signIn: SignIn, proof: Proof): Promise<string>;
  /** Answers with the claims of the person who came back. Rejects when anything about the answer is wrong. */
  finish(signIn: SignIn, search: string, proof: Proof): Promise<Claims>;
}

const keysFreshMs = 3_600_000;
const timeoutS = 10;
/** The difference of clocks that is tolerated. */
const toleranceS = 30;

export function createProvider(secretOf: (source: SecretSource) => Promise<string> = readSecret): IdentityProvider {
  const client = () => requirePackage<OpenidClient>("openid-client");
  let known: { readonly key: string; readonly at: number; readonly found: Promise<Configuration> } | undefined;

  function discovered(signIn: SignIn): Promise<Configuration> {
    const key = JSON.stringify([signIn.issuer, signIn.clientId, signIn.clientSecret]);
    if (known?.key === key && steadyNow() - known.at < keysFreshMs) return known.found;
    const found = discover(signIn);
    known = { key, at: steadyNow(), found };
    found.catch(() => {
      known = undefined;
    });
    return found;
  }

  async function discover({ issuer, clientId, clientSecret }: SignIn): Promise<Configuration> {
    const openid = client();
    const secret = clientSecret === undefined ? undefined : await secretOf(clientSecret);
    const proof =
      secret === undefined
        ? openid.None()
        : // Which of the two a provider takes is in what it says of itself, and so known only later.
          (...[server, ...request]: Parameters<ReturnType<OpenidClient["None"]>>): void =>
            (server.token_endpoint_auth_methods_supported?.includes("client_secret_basic") === false
              ? openid.ClientSecretPost(secret)
              : openid.ClientSecretBasic(secret))(server, ...request);
    // The reader of the fleet's file allows plain http for this machine alone.
    const plain = new URL(issuer).protocol === "http:" ? [openid.allowInsecureRequests] : [];
    return openid.discovery(new URL(issuer), clientId, { [openid.clockTolerance]: toleranceS }, proof, {
      execute: [...plain, openid.enableNonRepudiationChecks],
      timeout: timeoutS,
    });
  }

  return {
    async begin(signIn, { state, nonce, verifier }) {
      const openid = client();
      const url = openid.buildAuthorizationUrl(await discovered(signIn), {
        redirect_uri: signIn.url + donePath,
        scope: ["openid", ...signIn.scopes].join(" "),
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
      });
      return url.href;
    },
    async finish(signIn, search, { state, nonce, verifier }) {
      const openid = client();
      const config = await discovered(signIn);
      const tokens = await openid
        .authorizationCodeGrant(config, new URL(signIn.url + donePath + search), {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        .catch((error: unknown) => {
          // The client's secret or the provider's keys may have changed: the next sign-in reads them anew.
          known = undefined;
          throw error;
        });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error("the provider sent no ID token");
      const wanted = [signIn.nameClaim, ...signIn.roles.flatMap(({ claim }) => (claim === undefined ? [] : [claim]))];
      const isMissing = wanted.some((claim) => !Object.hasOwn(claims, claim.split(".")[0] ?? claim));
      // Many providers put only a few claims into the ID token; the others are asked for.
      const more =
        isMissing && config.serverMetadata().userinfo_endpoint !== undefined
          ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
          : {};
      return trusted({ ...more, ...claims }, signIn);
    },
  };
}

/**
 * Leaves out an e-mail address that the provider has not verified, because it may be anybody's. Verified is what it
 * calls `true`: some write the text "false", and some say nothing.
 */
function trusted(claims: Claims, { acceptUnverifiedEmail }: SignIn): Claims {
  const isSilent = claims["email_verified"] === undefined;
  if (claims["email_verified"] === true || (isSilent && acceptUnverifiedEmail)) return claims;
  const { email: _, ...rest } = claims;
  return rest;
}
