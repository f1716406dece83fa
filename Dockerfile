FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY requirements.txt requirements-traces.txt requirements-ocr.txt ./
# `--build-arg TRACES=1`: with what TRACES_URL needs. `--build-arg OCR=1`: scanned pages are read.
ARG TRACES=
ARG OCR=
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt \
    ${TRACES:+-r requirements-traces.txt} ${OCR:+-r requirements-ocr.txt}
COPY . .
# .dockerignore cannot tell a file without a dot from a folder.
RUN find . -type f ! -name '*.*' -delete

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /data chatplatform \
    && install -d -o chatplatform -g chatplatform -m 0750 /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data OMP_NUM_THREADS=1
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app .
# Once, here: each release has its own files of pages and scripts, and no start collects any.
RUN SECRET_KEY=none DATA_DIR=/tmp python manage.py collectstatic --noinput
USER chatplatform
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "chatplatform.web.serve", "chatplatform.asgi:application", \
     "--host", "0.0.0.0", "--port", "8000", "--workers-kill-timeout", "50"]
