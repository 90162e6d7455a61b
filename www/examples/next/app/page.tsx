import { Feedback } from "./feedback";

/** Page, rendered on the server, which reports nothing. */
export default function Page() {
  return (
    <>
      <h1>What works for you?</h1>
      <Feedback />
    </>
  );
}
