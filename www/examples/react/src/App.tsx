import "hushbin/history";
import { useRemembered } from "./remembered";
import { client, type Settings, useStatistics } from "./statistics";

const THEMES = { system: "As the system", light: "Light", dark: "Dark" } as const;

export function App() {
  const [settings, setSettings] = useRemembered<Settings>("settings", {
    theme: "system",
    captions: false,
    autoplay: false,
  });
  const [agrees, setAgrees] = useRemembered("statistics", false);
  useStatistics(agrees, settings);
  const set = (changed: Partial<Settings>) => setSettings({ ...settings, ...changed });

  return (
    <main>
      <h1>Settings</h1>
      <form>
        <label>
          Theme{" "}
          <select
            value={settings.theme}
            onChange={({ target }) => set({ theme: target.value as Settings["theme"] })}
          >
            {Object.entries(THEMES).map(([theme, name]) => (
              <option key={theme} value={theme}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <Checkbox
          name="Show captions"
          checked={settings.captions}
          onChange={(captions) => set({ captions })}
        />
        <Checkbox
          name="Play the next video by itself"
          checked={settings.autoplay}
          onChange={(autoplay) => set({ autoplay })}
        />
      </form>
      <h2>Statistics</h2>
      <Checkbox name="Count my settings" checked={agrees} onChange={setAgrees} />
      <p>
        We learn how many people use each setting, not which ones you use. Once in thirty days, your
        browser sends a report with random noise in it. Anyone who sees it can go from 50 % sure of
        one of your settings to at most 73 % sure.
      </p>
      <hushbin-history client={client} />
    </main>
  );
}

interface CheckboxProps {
  name: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function Checkbox({ name, checked, onChange }: CheckboxProps) {
  return (
    <label>
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
      />{" "}
      {name}
    </label>
  );
}
