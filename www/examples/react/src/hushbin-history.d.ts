import type { HushbinHistory } from "hushbin/history";
import type { DetailedHTMLProps, HTMLAttributes } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "hushbin-history": DetailedHTMLProps<HTMLAttributes<HushbinHistory>, HushbinHistory> & {
        client?: HushbinHistory["client"];
        revocable?: boolean;
      };
    }
  }
}
