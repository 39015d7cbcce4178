// A value that is told while the connection is away is lost: Streamlit keeps none for later. (Where one
// goes by a link, Back or Forward is not lost: it runs again for that.)

const MARK = "data-test-connection-state";
export const isAway = () => document.querySelector(`[${MARK}]`)?.getAttribute(MARK) !== "CONNECTED";

// Called once the connection is back. This may begin before Streamlit has put anything on the page.
export function onReturn(say) {
  let away = isAway();
  new MutationObserver(() => {
    if (away && !isAway()) say();
    away = isAway();
  }).observe(document.documentElement, { subtree: true, attributeFilter: [MARK] });
}
