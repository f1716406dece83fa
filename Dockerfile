# The base image; another one, such as from your own registry, is best named with its digest:
# python:3.11-slim@sha256:…
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS build
WORKDIR /app
RUN python -m venv /venv
COPY requirements.txt requirements-s3.txt requirements-traces.txt requirements-ocr.txt ./
# `--build-arg TRACES=1` installs what TRACES_URL needs, `--build-arg OCR=1` reads scanned pages.
ARG TRACES=
ARG OCR=
# Another package index; its certificates: `--secret id=ca,src=own-ca.pem`.
ARG PIP_INDEX_URL=
RUN --mount=type=secret,id=ca,target=/run/ca.pem \
    if [ -s /run/ca.pem ]; then export PIP_CERT=/run/ca.pem; fi; \
    /venv/bin/pip install --no-cache-dir --require-hashes \
    -r requirements.txt -r requirements-s3.txt \
    ${TRACES:+-r requirements-traces.txt} ${OCR:+-r requirements-ocr.txt} \
    && /venv/bin/pip uninstall --yes pip
COPY . .
# .dockerignore cannot tell a file without a dot from a folder.
RUN find . -type f ! -name '*.*' -delete

FROM ${PYTHON}
RUN useradd --system --uid 10001 --home-dir /data chatplatform \
    && install -d -o chatplatform -g chatplatform -m 0750 /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data OMP_NUM_THREADS=1
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app .
# Collected and compiled once, here: each release has its own files, and no start makes any.
RUN SECRET_KEY=none DATA_DIR=/tmp python manage.py collectstatic --noinput \
    && python -m compileall -q .
USER chatplatform
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "chatplatform.web.serve", "chatplatform.asgi:application", \
     "--host", "0.0.0.0", "--port", "8000", "--workers-kill-timeout", "50"]
