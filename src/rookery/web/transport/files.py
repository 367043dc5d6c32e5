"""The files of the page, from memory: a request for one needs no file descriptor."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

KEPT_HEADERS = ("content-type", "etag", "last-modified")


class FilesInMemory(StaticFiles):
    """The files of a folder as they were at the start, with the headers of `StaticFiles`."""

    def __init__(self, folder: Path) -> None:
        """Read them all."""
        super().__init__(directory=folder)
        paths = [path for path in folder.rglob("*") if path.is_file()]
        self._files = {str(path.relative_to(folder)): _content(path) for path in paths}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer a request; paths out of the folder are not among ours."""
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        if path not in self._files:
            raise HTTPException(404)
        response = self.response(path)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response

    def response(self, path: str) -> Response:
        """Return one of the files."""
        content, headers = self._files[path]
        return Response(content, headers=headers)


def _content(path: Path) -> tuple[bytes, dict[str, str]]:
    """Return a file with the headers that describe it."""
    described = FileResponse(path, stat_result=path.stat()).headers
    return path.read_bytes(), {name: described[name] for name in KEPT_HEADERS}
