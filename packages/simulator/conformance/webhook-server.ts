// An HTTPS webhook server for one test. The API server of either cluster reaches it on this machine.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { systemEnvironment } from "@memhog/runtime";
import { readBody } from "@memhog/runtime/http";
import { selfSignedCertificates } from "@memhog/runtime/webhook";
import type { Loose, World } from "./world.ts";

/** Returns the `response` of an AdmissionReview without its uid. */
export type Verdict = (request: Loose) => object;

export interface WebhookServer extends AsyncDisposable {
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
}

export async function serveWebhook({ cluster }: World, verdict: Verdict): Promise<WebhookServer> {
  // The certificate follows below: the address is known only after listening.
  const server = createServer((incoming, outgoing) => {
    const answer = async () => {
      const { request } = JSON.parse((await readBody(incoming, 8 * 1024 * 1024)).toString()) as { request: Loose };
      const response = { uid: request.uid, ...verdict(request) };
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }));
    };
    answer().catch((error) => outgoing.writeHead(500).end(String(error)));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { address, port } = await cluster.expose((server.address() as AddressInfo).port);
  const { certificate, key, trust } = await certificateFor(address);
  server.setSecureContext({ cert: certificate, key });
  const close = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  const url = `https://${address}:${port}/`;
  return { clientConfig: { url, caBundle: Buffer.from(trust ?? "").toString("base64") }, [Symbol.asyncDispose]: close };
}

async function certificateFor(address: string) {
  const ended = new AbortController();
  const source = selfSignedCertificates({ name: "conformance", names: [address], environment: systemEnvironment() });
  for await (const made of source(ended.signal)) {
    ended.abort();
    return made;
  }
  throw new Error("expected a certificate, found none");
}
