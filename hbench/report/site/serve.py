"""Serves a site on this machine, to this machine.

Other pages in the reader's browser can send requests to a loopback address, and with a name that resolves to it they
can read the answers too (DNS rebinding). So a request must name this very address as its host.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from hbench.core import RunError
from hbench.report.site.build import is_site
from hbench.report.site.policy import FRAMES, POLICY

HOST = "127.0.0.1"
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; {FRAMES}",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A site that was made anew under the same address is read anew.
    "Cache-Control": "no-cache",
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(folder: Path, port: int) -> web.Application:
    """Return what answers requests: the folder's files, to those who ask this address.

    Parameters
    ----------
    folder : Path
        A site.
    port : int
        Where it will listen.

    Raises
    ------
    RunError
        When the folder is no site.
    """
    if not is_site(folder):
        raise RunError("this is no site of hbench", file=folder, hint="Make one with: hbench report RUN... --html DIR")
    hosts = {f"{name}:{port}" for name in (HOST, "localhost")}

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if [host.lower() for host in request.headers.getall("Host", [])] not in [[host] for host in hosts]:
            raise web.HTTPMisdirectedRequest(text="Ask for the address that `hbench view` printed.\n")
        return await handler(request)

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(HEADERS)

    async def home(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(folder / "index.html")

    served = web.Application(middlewares=[guard])
    served.on_response_prepare.append(add_headers)
    served.router.add_get("/", home)
    # Files only, no lists of folders, and no links that lead out of the folder.
    served.router.add_static("/", folder.resolve(), show_index=False, follow_symlinks=False)
    return served


def listen(port: int) -> socket.socket:
    """Return a socket on the loopback address; port 0 means any that is free.

    Raises
    ------
    RunError
        When the port is taken.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError as error:
        made.close()
        raise RunError(
            f"port {port} cannot be used: {error.strerror}", hint="Give another one with --port, or 0 for any."
        ) from error
    return made


def serve(folder: Path, *, port: int, ready: Callable[[str], None]) -> None:
    """Serve a site until interrupted.

    Parameters
    ----------
    folder : Path
        A site.
    port : int
        Port on the loopback address; 0: any that is free.
    ready : callable
        Called with the address once it is known.
    """
    sock = listen(port)
    try:
        found = sock.getsockname()[1]
        served = application(folder, found)

        async def told(app: web.Application) -> None:
            ready(f"http://{HOST}:{found}/")

        served.on_startup.append(told)
        web.run_app(served, sock=sock, print=None, access_log=None)
    finally:
        sock.close()
