import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

// useWidth follows the width of an element in CSS pixels.
export function useWidth<T extends Element>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    setWidth(Math.floor(element.getBoundingClientRect().width));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

export type Theme = "light" | "dark";

const themeKey = "culprit-theme";

function storedTheme(): Theme | null {
  try {
    const stored = localStorage.getItem(themeKey);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null; // storage can be forbidden for files
  }
}

// useTheme follows the system until the reader chooses.
export function useTheme(): [Theme, (theme: Theme) => void] {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [theme, setTheme] = useState<Theme>(storedTheme() ?? (system.matches ? "dark" : "light"));
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  useEffect(() => {
    const follow = () => storedTheme() ?? setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  return [
    theme,
    (chosen) => {
      setTheme(chosen);
      try {
        localStorage.setItem(themeKey, chosen);
      } catch {
        return; // then the choice lasts as long as the page
      }
    },
  ];
}
