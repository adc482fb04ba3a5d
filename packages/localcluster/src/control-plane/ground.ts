// Finds the API server a site: on the host a free port, or the one that was asked for; in a sandbox its usual port, and a
// forwarder on the host.
import { apiServerPort } from "../node/network.ts";
import type { Sandbox } from "../node/sandbox.ts";
import { host, type Place } from "../process/place.ts";
import { mustBeFree, withFreePort } from "../process/ports.ts";
import type { Site } from "./site.ts";

export interface Ground {
  readonly place: Place;
  /** Of the API server, inside; its certificate names it. */
  readonly address: string;
  /** Starts something at a site; on the host once more at another one, if somebody took the port in between. */
  settle<T>(start: (site: Site) => Promise<T>): Promise<T>;
}

export function hostGround(port?: number): Ground {
  const address = "127.0.0.1";
  const at = (chosen: number): Site => ({ place: host, address, port: chosen, hostPort: chosen });
  return {
    place: host,
    address,
    settle: async (start) => (port === undefined ? withFreePort((free) => start(at(free))) : start(at(await mustBeFree(port)))),
  };
}

export function sandboxGround(sandbox: Sandbox, port?: number): Ground {
  const address = sandbox.nodeAddress;
  return {
    place: sandbox,
    address,
    settle: async (start) => {
      const hostPort = await sandbox.forward(apiServerPort, port === undefined ? {} : { hostPort: await mustBeFree(port) });
      return start({ place: sandbox, address, port: apiServerPort, hostPort });
    },
  };
}
