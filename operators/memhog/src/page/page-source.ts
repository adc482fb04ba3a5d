// The page runs as long as the controller works: as a source that brings no news. Only who works has something to show.
import { parseAddress, type Source } from "@memhog/runtime";
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
