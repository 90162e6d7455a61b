"use client";

import { createClient } from "hushbin";
import { useEffect, useState } from "react";
import { endpoint, task } from "../survey.js";

async function report() {
  const client = await createClient({ endpoint, task, consent: true });
  await client.report({ "dark-mode": 1, autoplay: -1 });
  await client.flush();
  await client.close();
}

/** Page that is also rendered on the server, where it imports the package but does not report. */
export default function Page() {
  const [told, tell] = useState("");
  useEffect(() => {
    report().then(
      () => tell("reported"),
      (error) => tell(`${error}`),
    );
  }, []);
  return <output>{told}</output>;
}
