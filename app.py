"""posviz: see how Transformers know where a token stands. Run with ``streamlit run app.py``."""

import streamlit as st

from posviz.ui import live, page, text

_PLAYGROUND = "pages/playground/playground.py"
_GROUPS = {
    ("why", text.say("Why")): {"order": text.say("Why order matters")},
    ("encodings", text.say("Encodings")): {
        "sinusoidal": text.say("Sinusoidal"),
        "learned": text.say("Learned"),
        "relative": text.say("Relative biases: Shaw, T5"),
        "transformer_xl": text.say("Transformer-XL"),
        "rope": text.say("RoPE"),
        "alibi": text.say("ALiBi"),
    },
    ("long_context", text.say("Long context")): {
        "scaling": text.say("Scaling methods"),
        "models": text.say("Released models"),
        "doctor": text.say("Config doctor"),
        "lab": text.say("Extrapolation lab"),
        "copying": text.say("Copying"),
        "needle": text.say("Needle in a haystack"),
        "training": text.say("Training replay"),
    },
}

# Called by the server's import too: before its first call Streamlit takes the folder pages/ for
# its old page discovery and answers the first deep link to a cold server with "Page not found".
navigation = st.navigation(
    {
        "": [
            # The landing page and its own address are the same script, so that both links work.
            st.Page(
                _PLAYGROUND, title="posviz", url_path="home", default=True, visibility="hidden"
            ),
            st.Page(_PLAYGROUND, title=text.say("Playground"), url_path="playground"),
        ],
    }
    | {
        group: [
            st.Page(f"pages/{folder}/{name}.py", title=title, url_path=name)
            for name, title in pages.items()
        ]
        for (folder, group), pages in _GROUPS.items()
    },
    position="top",
)

if __name__ == "__main__":  # Streamlit runs this file for each visitor
    page.frame()
    navigation.run()
else:
    app = st.App(__file__, routes=live.ROUTES)
