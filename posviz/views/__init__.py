"""What each page shows: parameters, and a pure function from their values to pictures.

One module per page, named like it. It puts numbers of the core into sentences and figures; the
page's script lays them out. Nothing here draws a widget.
"""
