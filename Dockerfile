# posviz, one process on port 8501: docker build -t posviz . && docker run -p 8501:8501 posviz

FROM python:3.11-slim-bookworm AS packages
# torch without CUDA, whose libraries are several GB.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt /tmp/
# Bytecode of everything would be 245 MB; what is used gets its own below.
RUN python -m venv --without-pip /opt/posviz \
    && pip --python /opt/posviz/bin/python install --no-cache-dir --no-compile \
        --extra-index-url "$TORCH_INDEX" -r /tmp/requirements.txt
# What only compilers and the packages' own tests read, 220 MB.
WORKDIR /opt/posviz/lib/python3.11/site-packages
RUN rm -r torch/include torch/test torch/bin/test_* torch/bin/protoc* \
        pandas/tests pyarrow/include pyarrow/tests

FROM python:3.11-slim-bookworm
# Hugging Face Spaces runs a container as user 1000.
RUN useradd --uid 1000 --create-home posviz
ENV PATH=/opt/posviz/bin:$PATH \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_FILE_WATCHER_TYPE=none
COPY --from=packages /opt/posviz /opt/posviz
WORKDIR /app
COPY . .
# The user cannot write here, so the bytecode is written now: without it each start takes longer.
RUN python -m compileall -q app.py pages posviz \
    && python -c "import torch; from posviz.ui import page; from streamlit.web import bootstrap"
USER 1000
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-IS", "-c", \
    "import os, urllib.request as web; web.urlopen(f'http://127.0.0.1:{os.environ[\"STREAMLIT_SERVER_PORT\"]}/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py"]
