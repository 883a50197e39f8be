/** Why a server's certificate is not believed, in words, with what makes it believed where that is for the user to say. */
const unknownAuthority = "signed by an authority that is not known here; NODE_EXTRA_CA_CERTS=FILE makes it known";

const problems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet, or this machine's clock is behind",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself alone; NODE_EXTRA_CA_CERTS=FILE makes it known",
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is ${unknownAuthority}`,
  UNABLE_TO_GET_ISSUER_CERT: `its certificate is ${unknownAuthority}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is ${unknownAuthority}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is ${unknownAuthority}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  EPROTO: "it does not speak TLS here",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS here",
};

/** By the code that Node gives the error; `undefined`: it is about something else. */
export const certificateProblem = (code: string): string | undefined =>
  problems[code] === undefined ? undefined : `${problems[code]} (${code})`;
