import type { HushbinHistoryElement } from "hushbin/history";
import type { DetailedHTMLProps, HTMLAttributes } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "hushbin-history": DetailedHTMLProps<
        HTMLAttributes<HushbinHistoryElement>,
        HushbinHistoryElement
      > & {
        client?: HushbinHistoryElement["client"];
        revocable?: boolean;
      };
    }
  }
}
