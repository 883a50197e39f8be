// The search, and the list of pages, which is open where there is room. The index is loaded at the first search.
(() => {
  const root = document.documentElement.dataset.root ?? "";
  const details = document.querySelector("nav details");
  const isWide = matchMedia("(min-width: 50.01rem)");
  const open = () => details.toggleAttribute("open", isWide.matches);
  isWide.addEventListener("change", open);
  open();
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

  // Where the site holds several versions, the version becomes a choice between them, of the same page where it is there.
  const { top: topFolder = "", version } = document.documentElement.dataset;
  const versions = window.siteVersions ?? [];
  if (versions.length > 1) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "Version");
    for (const one of versions) {
      const name = one.current ? "newest" : one.version;
      const here = one.current ? topFolder === root : one.version === version && topFolder !== root;
      select.append(
        Object.assign(document.createElement("option"), { value: one.path, textContent: name, selected: here }),
      );
    }
    select.addEventListener("change", () => {
      window.location.href = `${topFolder}${select.value}index.html`;
    });
    document.querySelector("header .version").replaceChildren(select);
  }

  const input = document.querySelector(".search input");
  const list = document.querySelector(".search ol");
  let loading;
  const load = () => {
    loading ??= new Promise((done) => {
      const script = document.createElement("script");
      script.src = `${root}search-index.js`;
      script.onload = () =>
        done(
          window.searchIndex.map((section) => ({
            ...section,
            low: section.text.toLowerCase(),
            head: `${section.title} ${section.heading}`.toLowerCase(),
          })),
        );
      document.head.append(script);
    });
    return loading;
  };

  /**
   * A section must hold every word. A word in a heading counts most, and the beginning of a word more than its inside.
   */
  const scoreOf = (section, words) => {
    let score = 0;
    for (const word of words) {
      const inHead = section.head.includes(word);
      const at = section.low.indexOf(word);
      if (!inHead && at < 0) return 0;
      const begins = new RegExp(`(^|[^\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "u");
      if (inHead) score += begins.test(section.head) ? 12 : 5;
      if (at >= 0) score += (begins.test(section.low) ? 3 : 1) + Math.min(2, section.low.split(word).length / 4);
    }
    // The words beside each other, as in "prevent destroy" and prevent_destroy, are what was meant.
    if (words.length > 1) {
      const beside = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s_-]+"), "u");
      if (beside.test(section.head)) score += 12;
      else if (beside.test(section.low)) score += 6;
    }
    return section.page.startsWith("examples/") ? score / 2 : score;
  };

  const excerpt = (section, words) => {
    const first = Math.min(
      ...words.map((word) => section.low.indexOf(word)).filter((at) => at >= 0),
      section.text.length,
    );
    const from = first === section.text.length ? 0 : Math.max(0, first - 50);
    const part = (from > 0 ? "…" : "") + section.text.slice(from, from + 160);
    const span = document.createElement("span");
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i");
    for (const piece of part.split(pattern)) {
      if (!words.includes(piece.toLowerCase())) span.append(piece);
      else span.append(Object.assign(document.createElement("mark"), { textContent: piece }));
    }
    return span;
  };

  const search = async () => {
    const words = input.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const sections = words.length === 0 ? [] : await load();
    const found = sections
      .map((section) => ({ section, score: scoreOf(section, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 12);
    list.replaceChildren(
      ...found.map(({ section }) => {
        const link = document.createElement("a");
        link.href = `${root}${section.page}${section.id === "" ? "" : `#${section.id}`}`;
        const name = document.createElement("strong");
        name.textContent = section.heading === section.title ? section.title : `${section.title} › ${section.heading}`;
        link.append(name, excerpt(section, words));
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    if (found.length === 0 && words.length > 0)
      list.append(
        Object.assign(document.createElement("li"), {
          className: "none",
          textContent: "Nothing has all of these words.",
        }),
      );
    list.hidden = words.length === 0;
  };
  input.addEventListener("input", search);
  input.addEventListener("focus", load);

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.blur();
    } else if (["ArrowDown", "ArrowUp"].includes(event.key) && !list.hidden) {
      const links = [input, ...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      links[Math.max(0, Math.min(links.length - 1, at))].focus();
    } else if (event.key === "Enter" && document.activeElement === input) list.querySelector("a")?.click();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) list.hidden = true;
  });
})();
