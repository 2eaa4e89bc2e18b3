// Printing: a page cannot be clicked on paper, and is as wide as the paper. What is collapsed is
// opened, pictures are drawn again for that width and in light colours, and all is put back
// afterwards.
import { useEffect, useState } from "preact/hooks";

let opened: HTMLDetailsElement[] = [];

// preparePaper must come before the first view: its listeners are then the first to be called.
export function preparePaper(): void {
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("paper");
    const shut = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    for (const element of shut) element.open = true;
    opened.push(...shut);
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("paper");
    for (const element of opened) element.open = false;
    opened = [];
  });
}

// usePaper tells whether the page is being printed.
export function usePaper(): boolean {
  const [paper, setPaper] = useState(false);
  useEffect(() => {
    const begin = () => setPaper(true);
    const end = () => setPaper(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return paper;
}
