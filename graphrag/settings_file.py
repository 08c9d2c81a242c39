"""settings.toml: read, overridden, checked, and written anew with every key.

Order of strength: `--set section.key=value`, then `GRAPHRAG_SECTION__KEY` in the environment, then settings.toml, then
the default. Values of the first two are read as TOML literals and, where that fails, as text.

Does not: say which keys there are (settings.py), or create folders.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import orjson
from annotated_types import Ge, Le
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from graphrag.errors import SettingsError, did_you_mean, shown_path
from graphrag.settings import EMBEDDED, LOCAL_MODELS, Section, Settings, recording_name

FILE_NAME = "settings.toml"
ENV_PREFIX = "GRAPHRAG_"
SECRET_WORDS = ("api_key", "apikey", "token", "secret", "password")


def find_root(start: Path) -> Path:
    """`start` or the nearest parent with a settings.toml."""
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise SettingsError(f"No {FILE_NAME} here or above. Run in a project folder, or use --root.")


def load_settings(
    root: Path, *, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> tuple[Settings, list[str]]:
    """The settings of a project folder and warnings about unknown GRAPHRAG_ variables.

    Raises SettingsError, one line, for broken TOML, unknown keys, values out of bounds and provider keys in the file.
    """
    values = _read_toml(root / FILE_NAME)
    from_environment, warnings = _read_environ(os.environ if environ is None else environ)
    from_flags = [_split_override(item) for item in overrides]
    origins = {}
    for origin, path, text in [*from_environment, *from_flags]:
        section, _, key = path.partition(".")
        if not key or not isinstance(values.setdefault(section, {}), dict):
            raise SettingsError(f'{origin}: "{path}" is not a section.key.{did_you_mean(path, all_keys())}')
        values[section][key] = _read_literal(path, text)
        origins[path] = origin
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(error, origins)) from None
    _check_together(settings)
    return settings, warnings


def _check_together(settings: Settings) -> None:
    """What no key can say alone. Raises SettingsError."""
    if settings.text_units.overlap >= settings.text_units.max_tokens:
        raise SettingsError(
            f"{FILE_NAME}: text_units.overlap must be smaller than text_units.max_tokens "
            f"({settings.text_units.max_tokens}), got {settings.text_units.overlap}."
        )
    if len(settings.llm.price) == 1:
        raise SettingsError(f"{FILE_NAME}: llm.price needs two numbers, USD a million tokens sent and received.")
    model = settings.llm.model
    if (model == EMBEDDED or recording_name(model)) and (roles := settings.llm.role_models()):
        raise SettingsError(
            f"{FILE_NAME}: llm.{min(roles)}_model has no effect while llm.model is {model}. Set llm.model too."
        )
    vectors_by = settings.embeddings.model
    if "/" not in vectors_by and vectors_by not in LOCAL_MODELS and not vectors_by.startswith("onnx:"):
        raise SettingsError(
            f'{FILE_NAME}: no embedding model "{vectors_by}".{did_you_mean(vectors_by, LOCAL_MODELS)} '
            f"Use one of: {', '.join(LOCAL_MODELS)}, onnx:FOLDER, or a service as litellm names it, provider/model."
        )
    is_service = "/" in vectors_by and not vectors_by.startswith("onnx:")
    if is_service and model == EMBEDDED:
        raise SettingsError(f'{FILE_NAME}: embeddings.model "{vectors_by}" is a service. Set llm.model too.')
    if is_service and recording_name(model):
        raise SettingsError(f'{FILE_NAME}: a recording holds no vectors of "{vectors_by}". Use embedded or none.')


def all_keys() -> list[str]:
    return [f"{name}.{key}" for name, section in _sections() for key in _fields(section)]


def _fields(section: type[Section]) -> dict[str, FieldInfo]:
    """The keys of a section as they are written: one that is a word of Python has another name in the code."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def _sections() -> list[tuple[str, type[Section]]]:
    return [(name, type(field.default)) for name, field in Settings.model_fields.items()]


def _read_toml(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise SettingsError(f"{shown_path(path)} is a folder. It should be a TOML file.")
    if not path.is_file():
        raise SettingsError(f"No {FILE_NAME} in {shown_path(path.parent)}. Run in a project folder, or use --root.")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{FILE_NAME}: {error}.") from None
    for section, content in values.items():
        for key in content if isinstance(content, dict) else {section: None}:
            if key.casefold() in SECRET_WORDS:
                name = f"{section}.{key}" if isinstance(content, dict) else key
                raise SettingsError(f'{FILE_NAME}: "{name}" may not stand in a file. Keys come from the environment.')
    return values


def _read_environ(environ: Mapping[str, str]) -> tuple[list[tuple[str, str, str]], list[str]]:
    known = {f"{ENV_PREFIX}{key.replace('.', '__')}".upper(): key for key in all_keys()}
    found, warnings = [], []
    for name in sorted(environ):
        if not name.startswith(ENV_PREFIX) or "__" not in name:
            continue
        if name in known:
            found.append((name, known[name], environ[name]))
        else:
            warnings.append(f"{name} is not a setting and was ignored.{did_you_mean(name, known)}")
    return found, warnings


def _split_override(item: str) -> tuple[str, str, str]:
    path, equals, text = item.partition("=")
    if not equals:
        raise SettingsError(f'--set needs section.key=value, got "{item}".')
    return "--set", path.strip(), text.strip()


def _read_literal(path: str, text: str) -> Any:
    """A TOML value; plain text stays text, and so does what looks like a number where the key holds text."""
    section, _, key = path.partition(".")
    fields = _fields(dict(_sections())[section]) if section in Settings.model_fields else {}
    if key in fields and fields[key].annotation is str and not text.startswith(('"', "'")):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    """The first fault, in our words: where, what is wrong with the value, what is allowed."""
    fault = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in fault["loc"])
    origin = origins.get(path, FILE_NAME)
    if fault["type"] == "extra_forbidden":
        known = all_keys() if "." in path else [name for name, _ in _sections()]
        return f'{origin}: unknown key "{path}".{did_you_mean(path, known)}'
    got = fault["input"]
    shown = f'"{got}"' if isinstance(got, str) else orjson.dumps(got, default=str).decode()
    if path.rpartition(".")[2].casefold().removesuffix("_env") in SECRET_WORDS:
        shown = "a value that is not shown"
    if fault["type"] in ("greater_than_equal", "less_than_equal") and (both := _find_bounds(path)):
        return f"{origin}: {path} must be between {both[0]:g} and {both[1]:g}, got {shown}."
    rule = fault["msg"].partition("should ")[2] or fault["msg"]
    return f"{origin}: {path} should {rule}, got {shown}."


def _find_bounds(path: str) -> tuple[float, float] | None:
    """The least and the greatest value of a number that has both."""
    section, _, key = path.partition(".")
    field = _fields(dict(_sections())[section]).get(key) if section in Settings.model_fields else None
    limits = {type(rule): rule for rule in field.metadata} if field else {}
    least, most = limits.get(Ge), limits.get(Le)
    return (float(least.ge), float(most.le)) if least and most else None


def _dtype_name(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " | ".join(get_args(annotation))
    if get_origin(annotation) is list:
        return "list"
    if get_origin(annotation) is dict:
        return "table"
    return {str: "text", int: "integer", float: "number", bool: "true | false"}[annotation]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }" if value else "{}"
        )
    return orjson.dumps(value).decode()


def render_template(values: Mapping[str, Any] | None = None) -> str:
    """settings.toml with every key, its default (or `values["section.key"]`) and its comment."""
    lines = [
        "# Settings of graphrag-batch. Every key is here, with its default and what it does.",
        "# Override one for a single run: --set section.key=value, or GRAPHRAG_SECTION__KEY in the environment.",
    ]
    for name, section in _sections():
        lines += ["", f"[{name}]"]
        for key, field in _fields(section).items():
            value = (values or {}).get(f"{name}.{key}", field.default)
            lines.append(f"{key} = {_toml(value)}".ljust(36) + f" # {field.description}")
    return "\n".join(lines) + "\n"


def render_settings_page() -> str:
    """docs/settings.md: all keys with dtype, default and meaning."""
    lines = ["# Settings", "", "Generated from graphrag/settings.py by `make docs`. Do not edit.", ""]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, section in _sections():
        for key, field in _fields(section).items():
            dtype = _dtype_name(field.annotation).replace("|", "\\|")
            lines.append(f"| `{name}.{key}` | {dtype} | `{_toml(field.default)}` | {field.description} |")
    return "\n".join(lines) + "\n"
