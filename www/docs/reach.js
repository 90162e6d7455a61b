// What the theme leaves out for those who use a keyboard or listen: what scrolls can be reached,
// the list of chapters is opened by a button, buttons lie in a landmark. All in a block: the
// theme's scripts have names of their own in the same scope.

{
  for (const scrolls of document.querySelectorAll("main :is(pre > code, .table-wrapper, math)")) {
    if (scrolls.scrollWidth > scrolls.clientWidth) {
      scrolls.tabIndex = 0;
    }
  }

  // A corner of a table heads nothing.
  for (const corner of document.querySelectorAll("th:empty")) {
    corner.replaceWith(document.createElement("td"));
  }

  const bar = document.querySelector("#mdbook-menu-bar");
  bar?.setAttribute("role", "navigation");
  bar?.setAttribute("aria-label", "The book");

  // The theme has a label there, of a box to tick.
  const label = document.querySelector("#mdbook-sidebar-toggle");
  const box = document.querySelector("#mdbook-sidebar-toggle-anchor");
  if (label !== null && box instanceof HTMLInputElement) {
    const button = document.createElement("button");
    for (const { name, value } of label.attributes) {
      if (name !== "for") {
        button.setAttribute(name, value);
      }
    }
    button.type = "button";
    button.append(...label.childNodes);
    button.addEventListener("click", () => box.click());
    box.addEventListener("change", () => {
      button.setAttribute("aria-expanded", String(box.checked));
    });
    label.replaceWith(button);
  }
}
