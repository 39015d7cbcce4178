"""Pictures: arrays in, a Plotly figure or markup out; no Streamlit and no mathematics."""
