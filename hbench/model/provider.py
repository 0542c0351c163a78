"""A model named ``PROVIDER:NAME`` behind HTTP, made from its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from hbench.core import JsonValue, ModelContext, ModelError
from hbench.model.http import HttpModel
from hbench.model.http_options import read_http_settings, read_key, read_urls
from hbench.model.options import Options
from hbench.model.structured import Structured
from hbench.model.wire import Wire


class ProviderModel(HttpModel):
    """A model of one provider, or of who speaks its format.

    Attributes
    ----------
    provider : str
        The name before the colon.
    official : str
        The provider's base URL, used where ``base_url=`` names no other; it demands a key.
    variables : sequence of str
        Environment variables that may hold the key.
    """

    provider: ClassVar[str]
    official: ClassVar[str]
    variables: ClassVar[Sequence[str]]

    @classmethod
    def make_wire(cls, argument: str, key: str | None, structured: Structured | None, read: Options) -> Wire:
        """Make the format; `read` tells the options that only this provider has."""
        raise NotImplementedError

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Self:
        """Make the back end from its words.

        Raises
        ------
        ModelError
            Without a model's name, without the key that is needed, or for options that do not exist.
        """
        if not argument:
            raise ModelError(f"model {cls.provider}: which one? Write {cls.provider}:NAME")
        name = f"{cls.provider}:{argument}"
        read = Options(cls.provider, options)
        urls = read_urls(read, name, cls.official)
        key = read_key(read, name, urls, official=cls.official, variables=cls.variables)
        structured = Structured(context) if read.flag("structured") else None
        wire = cls.make_wire(argument, key, structured, read)
        settings = read_http_settings(read, name, urls, path=wire.path)
        read.finish()
        return cls(name, wire, settings, secrets=(key,) if key else (), structured=structured)
