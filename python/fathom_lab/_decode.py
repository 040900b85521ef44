"""Converts JSON to dataclasses. Unknown keys of a newer Fathom are only in `raw`."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


@functools.cache
def _hints(of: Any) -> dict[str, Any]:
    return typing.get_type_hints(of)


def record(of: type[T], value: Any) -> T:
    """Returns the value as a record of this class."""
    hints = _hints(typing.cast(Any, of))
    known = {key: _value(hints[key], inner) for key, inner in value.items() if key in hints}
    return of(**known)


def _value(of: Any, value: Any) -> Any:
    if value is None:
        return None
    if dataclasses.is_dataclass(of):
        return record(typing.cast("type[Any]", of), value)
    origin, arguments = typing.get_origin(of), typing.get_args(of)
    if origin in (typing.Union, types.UnionType):
        fitting = [one for one in arguments if dataclasses.is_dataclass(one) or typing.get_origin(one) is list]
        return _value(fitting[0], value) if fitting and not isinstance(value, str) else value
    if origin is list:
        return [_value(arguments[0], one) for one in value]
    if origin is tuple:
        return tuple(value)
    return value
