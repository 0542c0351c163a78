"""`hbench view`: a site that `hbench report --html` made, on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from hbench.cli.terminal import say


@click.command("view")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8_700,
    show_default=True,
    help="Where to listen; 0: any free port.",
)
@click.option("--open", "browser", is_flag=True, help="Open it in the browser.")
def command(folder: Path, port: int, browser: bool) -> None:
    """Serve the site in FOLDER to this machine alone, until interrupted.

    Everything but the record viewer can also be read by opening index.html as a file.
    """
    from hbench.report.site.serve import serve

    def ready(address: str) -> None:
        say(f"{address}  (stop with Ctrl-C)")
        if browser:
            click.launch(address)

    serve(folder, port=port, ready=ready)
