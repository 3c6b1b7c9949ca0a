/** What is wrong with where things are on the page, in sentences. It looks at what is open on top. */
globalThis.checkLayout = () => {
  const problems = [];
  const root = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const words = (node) => `${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""}.${node.className?.baseVal ?? node.className} “${
    (node.getAttribute("aria-label") || node.title || node.labels?.[0]?.textContent || node.textContent || "").trim().slice(0, 40)}”`;
  const shown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const round = (value) => Math.round(value * 10) / 10;

  const page = document.scrollingElement;
  if (page.scrollWidth > innerWidth) problems.push(`the page is ${page.scrollWidth} px wide, and the window ${innerWidth}`);
  for (const node of [root, ...root.querySelectorAll("*")]) {
    const { overflowX } = getComputedStyle(node);
    if (["auto", "scroll"].includes(overflowX) && shown(node) && node.scrollWidth > node.clientWidth + 1) {
      problems.push(`${words(node)} scrolls sideways: ${node.scrollWidth} px in ${node.clientWidth}`);
    }
  }

  // A label belongs to its box, and a link within a sentence has the sentence's height.
  const targetOf = (node) => (["checkbox", "radio"].includes(node.type) && node.closest("label")) || node;
  const controls = [...root.querySelectorAll("button, a[href], input, select, textarea, summary, [role=switch], [tabindex='0']")]
    .filter((node) => shown(node) && node.getBoundingClientRect().width > 0);
  for (const node of controls) {
    const { left, right } = node.getBoundingClientRect();
    if (left < -0.5 || right > innerWidth + 0.5) problems.push(`${words(node)} is outside: ${round(left)} to ${round(right)}`);
    const { width, height } = targetOf(node).getBoundingClientRect();
    const isInSentence = getComputedStyle(node).display === "inline";
    if (!isInSentence && (width < 24 || height < 24)) problems.push(`${words(node)} is ${round(width)} × ${round(height)}`);
  }
  const subject = root.querySelector(".one-camera .stage") ?? (document.querySelector("body > main > #video") && document.querySelector("main"));
  if (subject) {
    const stage = subject.getBoundingClientRect();
    for (const node of controls) {
      const box = node.getBoundingClientRect();
      if (node !== subject && box.left < stage.right && box.right > stage.left && box.top < stage.bottom && box.bottom > stage.top) {
        problems.push(`${words(node)} covers the picture`);
      }
    }
  }

  // Each piece of text, as the boxes of its lines, without what is only for screen readers.
  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const parent = text.parentElement;
    if (!text.data.trim() || !shown(parent) || parent.closest("svg, option, [aria-hidden=true]")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const lines = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    if (lines.length) texts.push({ text: text.data.trim().slice(0, 40), parent, lines });
  }
  for (const { text, parent, lines } of texts) {
    for (let box = parent; box && box !== document.documentElement; box = box.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(box);
      const bounds = box.getBoundingClientRect();
      if (bounds.width <= 1 || bounds.height <= 1) break;
      const isCut = lines.some((line) => (["hidden", "clip"].includes(overflowX) && (line.left < bounds.left - 1.5 || line.right > bounds.right + 1.5))
        || (["hidden", "clip"].includes(overflowY) && (line.top < bounds.top - 3 || line.bottom > bounds.bottom + 3)));
      if (isCut) {
        problems.push(`“${text}” is cut off by ${words(box)}`);
        break;
      }
      if (position === "fixed" || ["auto", "scroll"].includes(overflowY)) break;
    }
    for (const line of lines) {
      if (line.left < -0.5 || line.right > innerWidth + 0.5) problems.push(`“${text}” is outside: ${round(line.left)} to ${round(line.right)}`);
    }
  }
  // What lies under a bar that stays while the list scrolls is not seen, and so is not overlapped.
  const isSeen = (parent, line) => {
    const found = document.elementFromPoint((line.left + line.right) / 2, (line.top + line.bottom) / 2);
    return found !== null && (found.contains(parent) || parent.contains(found));
  };
  const lines = texts.flatMap(({ text, parent, lines: boxes }) => boxes.filter((line) => isSeen(parent, line))
    .map((line) => ({ text, parent, line })));
  for (const [index, one] of lines.entries()) {
    for (const other of lines.slice(index + 1)) {
      if (one.parent === other.parent) continue;
      const wide = Math.min(one.line.right, other.line.right) - Math.max(one.line.left, other.line.left);
      const high = Math.min(one.line.bottom, other.line.bottom) - Math.max(one.line.top, other.line.top);
      if (wide > 2 && high > 4) problems.push(`“${one.text}” overlaps “${other.text}”`);
    }
  }
  return [...new Set(problems)];
};
