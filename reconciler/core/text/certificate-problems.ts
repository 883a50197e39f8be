/**
 * Why a server's certificate is not believed, in words, and what would make it so. None of it passes by itself, so
 * nobody who meets one tries again.
 */
export interface CertificateProblem {
  readonly words: string;
  readonly fix: string;
}

type CertificateRow = readonly [words: string, fix: string];

const makeKnown =
  "set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of the authority that signed it, if you trust it";
const unknownAuthority: CertificateRow = [
  "its certificate is signed by an authority that is not known here; NODE_EXTRA_CA_CERTS=FILE makes it known",
  makeKnown,
];
const noTls: CertificateRow = [
  "it does not speak TLS here",
  "check the address: its host, its port, and that https is spoken there",
];

const problems: Readonly<Record<string, CertificateRow>> = {
  CERT_HAS_EXPIRED: ["its certificate has expired", "have it renewed, or set this machine's clock if that is wrong"],
  CERT_NOT_YET_VALID: [
    "its certificate is not valid yet, or this machine's clock is behind",
    "set this machine's clock, or wait until the certificate is valid",
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    "its certificate is signed by itself alone; NODE_EXTRA_CA_CERTS=FILE makes it known",
    "set NODE_EXTRA_CA_CERTS to a PEM file with that certificate, if you trust it",
  ],
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "its certificate is for another host",
    "use an address whose host the certificate names",
  ],
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
};

/** By the code that Node gives the error; `undefined`: it is about something else. */
export function certificateProblem(code: string): CertificateProblem | undefined {
  const row = problems[code];
  return row === undefined ? undefined : { words: `${row[0]} (${code})`, fix: row[1] };
}
