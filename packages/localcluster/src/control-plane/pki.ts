// Who is who in a cluster: the certificates and keys of its components, as files below pki/.
//
// Two authorities, as in any cluster. One vouches for the API server and for its users. The other vouches only for the
// API server when it passes a user's request on to an extension API server: were they one, any user could claim to be it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterDirectory } from "../state/directory.ts";
import {
  type Authority,
  type CertificateRequest,
  type CertifiedKey,
  createAuthority,
  createSigningKeys,
} from "./certificates.ts";

/** Paths of a certificate and its key. */
interface CertifiedFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface Pki {
  /** Vouches for servers and users of the cluster. */
  readonly authority: Authority;
  readonly authorityFiles: CertifiedFiles;
  readonly apiServer: CertifiedFiles;
  /** What the API server shows a kubelet, for logs and exec. */
  readonly kubeletClient: CertifiedFiles;
  readonly frontProxyAuthority: string;
  readonly frontProxyClient: CertifiedFiles;
  /** Signs and checks service account tokens. */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** Signs one more and writes it to pki/NAME.crt and pki/NAME.key. */
  issue(name: string, request: CertificateRequest): Promise<CertifiedFiles>;
}

/** `hosts` are the names and addresses by which the API server is called. */
export async function createPki(directory: ClusterDirectory, hosts: readonly string[]): Promise<Pki> {
  const write = writerTo(directory.pki);
  const authority = createAuthority("localcluster");
  const frontProxy = createAuthority("localcluster-front-proxy");
  const tokens = createSigningKeys();
  const issue: Pki["issue"] = (name, request) => write.pair(name, authority.issue(request));
  return {
    authority,
    authorityFiles: await write.pair("ca", authority),
    apiServer: await issue("apiserver", { commonName: "kube-apiserver", hosts }),
    kubeletClient: await issue("apiserver-kubelet-client", {
      commonName: "kube-apiserver-kubelet-client",
      organizations: ["system:masters"],
    }),
    frontProxyAuthority: await write.file("front-proxy-ca.crt", frontProxy.certificate),
    frontProxyClient: await write.pair("front-proxy-client", frontProxy.issue({ commonName: "front-proxy-client" })),
    serviceAccountKey: await write.file("sa.key", tokens.privateKey),
    serviceAccountPublicKey: await write.file("sa.pub", tokens.publicKey),
    issue,
  };
}

function writerTo(folder: string) {
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const pair = async (name: string, { certificate, key }: CertifiedKey): Promise<CertifiedFiles> => ({
    certificate: await file(`${name}.crt`, certificate),
    key: await file(`${name}.key`, key),
  });
  return { file, pair };
}
