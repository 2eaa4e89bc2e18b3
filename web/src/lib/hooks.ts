import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { usePaper } from "./paper";

// useWidth follows the width of an element in CSS pixels.
export function useWidth<T extends Element>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  const paper = usePaper();
  // Nothing tells an observer that the page is laid out for paper.
  useLayoutEffect(() => {
    if (ref.current) setWidth(Math.floor(ref.current.getBoundingClientRect().width));
  }, [paper]);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

// useSlash makes the slash lead to a field, wherever the reader is but in another field.
export function useSlash(field: RefObject<HTMLInputElement | null> | null): void {
  useEffect(() => {
    if (!field) return undefined;
    const find = (event: KeyboardEvent) => {
      const { target } = event;
      const writes = target instanceof HTMLInputElement && target.type !== "checkbox";
      if (event.key !== "/" || writes || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented) return; // a picture has a search of its own
      event.preventDefault();
      field.current?.focus();
      field.current?.scrollIntoView({ block: "center" });
    };
    addEventListener("keydown", find);
    return () => removeEventListener("keydown", find);
  }, [field]);
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
  const paper = usePaper();
  const shown = paper ? "light" : theme;
  document.documentElement.dataset.theme = shown; // at once: pictures take their colours from it
  useEffect(() => {
    const follow = () => storedTheme() ?? setTheme(system.matches ? "dark" : "light");
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  return [
    shown,
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
