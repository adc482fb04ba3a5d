// The metrics of hollow nodes where scrapers look for them.
import type { TransportRequest, TransportResponse } from "@memhog/runtime";
import { type HttpEndpoint, serve } from "../../prometheus/http.ts";
import type { Target } from "../../prometheus/scraper.ts";
import type { HollowNode } from "../hollow-node.ts";
import type { HollowNodes } from "../hollow-nodes.ts";

/** A node as a target of Prometheus, with the labels that localcluster's Prometheus gives to the real one. */
export function cadvisorTarget(node: HollowNode): Target {
  return { labels: { job: "cadvisor", instance: node.name, node: node.name }, scrape: () => node.samples() };
}

/**
 * Serves them at a port of this machine, for a real Prometheus:
 *
 *     http://127.0.0.1:PORT/nodes/<name>/metrics/cadvisor
 */
export function serveCadvisor(nodes: Pick<HollowNodes, "all">, port = 0): Promise<HttpEndpoint> {
  return serve((request) => answerTo(nodes, request), port);
}

function answerTo({ all }: Pick<HollowNodes, "all">, { path }: TransportRequest): TransportResponse {
  const [, name] = /^\/nodes\/([^/]+)\/metrics\/cadvisor$/.exec(path) ?? [];
  const node = all.find((each) => each.name === name);
  return node === undefined ? { status: 404, headers: {}, body: "404 page not found\n" } : metricsOf(node);
}

/** @throws NodeDownError, which cuts the connection: a node without power has no port either */
export function metricsOf(node: HollowNode): TransportResponse {
  return { status: 200, headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" }, body: node.metricsText() };
}
