// The page runs as long as the controller works: as a source that brings no news. Only who works has something to show.
import type { Source } from "@memhog/runtime";
import { AppMonitor } from "../api/app-monitor.ts";
import type { MetricsSeen } from "../model/seen.ts";
import type { History } from "./history.ts";
import { pageState } from "./page-state.ts";
import { servePage } from "./serve-page.ts";

export interface PageSourceOptions {
  /** ":8082" or "127.0.0.1:8082"; port 0 takes a free one. */
  readonly address: string;
  readonly history: History;
  readonly metrics: () => MetricsSeen;
  /** It listens, at this port. */
  readonly onPage?: (port: number) => void;
}

/** An address that cannot be listened at. */
export class PageAddressError extends Error {
  readonly code = "MEMHOG_PAGE_ADDRESS";
  override readonly name = "PageAddressError";
}

export function pageSource({ address, history, metrics, onPage = () => {} }: PageSourceOptions): Source {
  return {
    name: "page",
    run: async ({ cached, environment, log, signal }) => {
      const state = (sinceMs: number) =>
        pageState(
          {
            nowMs: environment.clock.now(),
            metrics: metrics(),
            apps: history.apps(),
            monitors: cached.objects(AppMonitor),
          },
          sinceMs,
        );
      await using page = await servePage({ ...parseAddress(address), state });
      log.info({ port: page.port }, "the page is served");
      onPage(page.port);
      if (signal.aborted) return;
      await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
    },
  };
}

/** @throws PageAddressError */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535)
    throw new PageAddressError(`expected an address for the page like :8082 or 127.0.0.1:8082, found ${JSON.stringify(address)}`);
  return { host: found[1] ?? (found[2] || undefined), port };
}
