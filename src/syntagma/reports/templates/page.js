(function () {
  "use strict";
  function unfold(box) {
    var kept = box.querySelector("script");
    if (kept) { box.outerHTML = kept.textContent; }
  }
  function watch() {
    var boxes = document.querySelectorAll(".folded");
    if (!("IntersectionObserver" in window)) { boxes.forEach(unfold); return; }
    var eye = new IntersectionObserver(function (seen) {
      seen.forEach(function (entry) {
        if (entry.isIntersecting) { eye.unobserve(entry.target); unfold(entry.target); }
      });
    }, { rootMargin: "1500px" });
    boxes.forEach(function (box) { eye.observe(box); });
  }
  function unfoldAll() { document.querySelectorAll(".folded").forEach(unfold); }
  function move(step) {
    var all = Array.prototype.filter.call(document.querySelectorAll(".sentence"), function (one) {
      return one.getClientRects().length > 0;
    });
    if (!all.length) { return; }
    var here = all.indexOf(document.activeElement.closest(".sentence"));
    var next = here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step;
    if (next >= all.length) {
      var more = document.querySelector(".folded");
      if (more) { unfold(more); move(step); }
      return;
    }
    if (next < 0) { return; }
    all[next].focus({ preventScroll: true });
    all[next].scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox") { return; }
    var inside = event.target.closest && event.target.closest(".sentence");
    if (event.key === "j" || (inside && event.key === "ArrowDown")) { event.preventDefault(); move(1); }
    if (event.key === "k" || (inside && event.key === "ArrowUp")) { event.preventDefault(); move(-1); }
  });
  var only = document.getElementById("wrong-only");
  if (only) { only.addEventListener("change", unfoldAll); }
  window.addEventListener("beforeprint", unfoldAll);
  watch();
})();
