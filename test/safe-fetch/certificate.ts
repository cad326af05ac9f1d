/** Of a server that exists only in these tests: self-signed, for far.example, until 2126. */
import { createPrivateKey } from "node:crypto";

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUD9jG4VZi5xZVtqyi29wQ2U+yPgYwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZmFyLmV4YW1wbGUwIBcNMjYxMTE1MjI1MDU2WhgPMjEyNjEw
MjIyMjUwNTZaMBYxFDASBgNVBAMMC2Zhci5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEMDI5V1X71uLoWmJBH2drC+OjmFf0Xhjamxcn5+J/W4eGyZme
x10+cTfv9wd4sIl6WresFHhM4d+MuHC9VwdDV6NrMGkwHQYDVR0OBBYEFNIc0SmW
WnDbmV+3bddhbv2bOwEvMB8GA1UdIwQYMBaAFNIc0SmWWnDbmV+3bddhbv2bOwEv
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILZmFyLmV4YW1wbGUwCgYIKoZI
zj0EAwIDRwAwRAIgID4VwNbUod9CPqa0g7pnFBvsu492g7KMKf+cIwOfYkACIAmr
CMYPfdGniiG6xCV3/prMxMYmo30Q4fohZiVdRLD+
-----END CERTIFICATE-----
`;

const jwk = {
  kty: "EC",
  x: "MDI5V1X71uLoWmJBH2drC-OjmFf0Xhjamxcn5-J_W4c",
  y: "hsmZnsddPnE37_cHeLCJelq3rBR4TOHfjLhwvVcHQ1c",
  crv: "P-256",
  d: "jCCqBYvJJIJomFqZNYOv8HVI6-KwN1qJO35Q3EtcvpE",
};

export const key: string | Buffer = createPrivateKey({ key: jwk, format: "jwk" }).export({
  type: "pkcs8",
  format: "pem",
});
