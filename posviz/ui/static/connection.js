// A value that is told while the connection is away is lost: Streamlit keeps none for later. (Where one
// goes by a link, Back or Forward is not lost: it runs again for that.)

const app = document.querySelector("[data-test-connection-state]");
export const isAway = () => app?.dataset.testConnectionState !== "CONNECTED";

// Called once the connection is back.
export function onReturn(say) {
  if (!app) return;
  let away = isAway();
  new MutationObserver(() => {
    if (away && !isAway()) say();
    away = isAway();
  }).observe(app, { attributeFilter: ["data-test-connection-state"] });
}
