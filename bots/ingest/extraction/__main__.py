"""The child process of `extract_in_child`: prints the text of one file as JSON."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bots.ingest import child_process
from bots.ingest.extraction import read
from bots.ingest.extraction.document import ExtractError


def main(path: str, file_name: str, memory_mb: str, cpu_seconds: str) -> None:
    # The limits come first, so that the file can harm only this process.
    child_process.limit_resources(int(memory_mb), int(cpu_seconds))
    data: dict[str, Any]
    try:
        data = asdict(read(Path(path), file_name))
    except ExtractError as error:
        data = {"code": error.code, "message": error.message}
    except (MemoryError, RecursionError):
        data = {"code": "too_large", "message": "The file took too much memory to read."}
    child_process.print_and_exit(json.dumps(data, ensure_ascii=False).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
