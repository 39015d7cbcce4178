"""posviz: see how Transformers know where a token stands. Run with ``streamlit run app.py``."""

import streamlit as st
from starlette.middleware import Middleware

from posviz.ui import document, live, page, site
from posviz.ui.packed import PackedFiles
from posviz.ui.text import say
from posviz.views.search import VIEW as SEARCH

if __name__ == "__main__":  # Streamlit runs this file for each visitor
    page.begin()

# Called by the server's import too: before its first call Streamlit takes the folder pages/ for
# its old page discovery and answers the first deep link to a cold server with "Page not found".
# The landing page is the playground's script at another address, so that both links work.
home = st.Page(
    "pages/playground/playground.py", title="posviz", url_path="home", default=True,
    visibility="hidden",
)  # fmt: skip
groups = {
    group.title and say(group.title): [
        st.Page(f"pages/{group.folder}/{one.name}.py", title=say(one.title), url_path=one.name)
        for one in group.pages
    ]
    for group in site.GROUPS
}
navigation = st.navigation({"": [home, *groups.pop("")], **groups}, position="top")

if __name__ == "__main__":
    page.search(SEARCH)
    navigation.run()
else:
    app = st.App(
        __file__,
        routes=[*live.ROUTES, document.ROUTE],
        middleware=[Middleware(document.Document), Middleware(PackedFiles, document.FOLDERS)],
    )
