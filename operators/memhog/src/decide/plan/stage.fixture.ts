// The same world, of another kind of app.
import type { AppSeen } from "../../model/seen.ts";

/** As a bare pod: nobody owns it, there is no template. */
export const asBarePod = (seen: AppSeen): AppSeen => ({ ...seen, app: { ...seen.app, kind: "Pod" }, template: undefined });
