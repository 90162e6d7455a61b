import { useEffect, useState } from "react";

/** Returns state that this browser remembers. */
export function useRemembered<T>(key: string, initial: T) {
  const [value, setValue] = useState<T>(() => {
    const kept = localStorage.getItem(key);
    return kept === null ? initial : JSON.parse(kept);
  });
  useEffect(() => localStorage.setItem(key, JSON.stringify(value)), [key, value]);
  return [value, setValue] as const;
}
