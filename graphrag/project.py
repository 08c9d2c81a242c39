"""A project folder: created by `graphrag init`, looked at by `graphrag check`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from graphrag.errors import GraphragError, PromptError, SettingsError, shown_path
from graphrag.settings import EMBEDDED, Settings, recording_name
from graphrag.settings_file import FILE_NAME, render_template

ALIASES_TEMPLATE = """\
# Names that always or never mean the same thing. These rules win over everything the pipeline finds.
#
# [[always]]
# title = "PostgreSQL"          # name to show (optional)
# names = ["Postgres", "primary-db"]
#
# [[never]]
# names = ["Team A", "Team B"]
"""
GITIGNORE = "data/output/\ndata/cache/\n"


def create_project(folder: Path) -> list[Path]:
    """Write settings.toml, aliases.toml, .gitignore and data/input into the folder; returns what was created.

    Raises SettingsError where a settings.toml stands already; other files that exist are left as they are.
    """
    if (folder / FILE_NAME).exists():
        raise SettingsError(f"{folder / FILE_NAME} exists already. Edit it, or choose another folder.")
    input_dir = folder / "data" / "input"
    input_dir.mkdir(parents=True, exist_ok=True)
    created = [input_dir]
    for name, text in ((FILE_NAME, render_template()), ("aliases.toml", ALIASES_TEMPLATE), (".gitignore", GITIGNORE)):
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="utf-8")
            created.append(path)
    return created


def _count_input_files(settings: Settings, root: Path) -> int:
    """Raises SettingsError or InputError for an address that cannot be opened."""
    from graphrag.object_storage import is_url
    from graphrag.reading.objects import list_objects

    if is_url(settings.input.dir):
        return len(list_objects(settings.input.dir, ignore=settings.input.ignore).files)
    input_dir = root / settings.input.dir
    return sum(1 for path in input_dir.rglob("*") if path.is_file()) if input_dir.is_dir() else 0


def check_project(settings: Settings, root: Path) -> list[tuple[str, str, str]]:
    """What a run would meet: (state, what, words), in the order a run meets it. Writes nothing.

    States: ok; -- (a run works, with less); no (a run would end at once).
    """
    from graphrag import store, vectors
    from graphrag.index import nlp_extraction
    from graphrag.naming.alias_rules import parse_alias_rules

    found = [("ok", "settings", shown_path(root / FILE_NAME))]
    n_files = _count_input_files(settings, root)
    words = f"{n_files} files in {settings.input.dir}" if n_files else f"no documents in {settings.input.dir}"
    found.append(("ok" if n_files else "no", "input", words))
    rules_path = root / settings.disambiguation.aliases
    try:
        text = rules_path.read_text(encoding="utf-8-sig") if rules_path.is_file() else ""
        rules = parse_alias_rules(text, path=settings.disambiguation.aliases)
        found.append(("ok", "aliases", f"{len(rules.known_names())} names in {settings.disambiguation.aliases}"))
    except GraphragError as error:
        found.append(("no", "aliases", str(error)))
    if settings.llm.model == EMBEDDED:
        missing = nlp_extraction.missing_parts() if settings.extraction.nlp != "lite" else ""
        words = missing or f"{settings.extraction.nlp}: all parts are here"
        found.append(("--" if missing else "ok", "extraction", words))
    else:
        found += _check_model(settings, root)
    is_service = settings.llm.model != EMBEDDED and vectors.is_service_name(settings.embeddings.model)
    is_local = settings.embeddings.model != "none" and not is_service
    missing = vectors.is_available(vectors.locate_model(settings.embeddings.model, root)) if is_local else ""
    found.append(
        ("--" if missing else "ok", "embeddings", missing or f"{settings.embeddings.model}: all parts are here")
    )
    manifest = store.read_manifest(root / settings.output.dir)
    words = f"run {manifest['run_id']} is live" if manifest else 'none yet: run "graphrag index"'
    found.append(("ok", "index", words))
    return found


def _check_other_prompts(root: Path, known: Collection[str]) -> list[str]:
    """What is wrong with the user's prompts of searches, and of stages that are off: no run ends of it."""
    from graphrag.prompts import PROMPTS, load_prompt

    told: list[str] = []
    for name in PROMPTS:
        if name not in known:
            try:
                told += load_prompt(name, root).warnings
            except PromptError as error:
                told.append(str(error))
    return told


def _check_model(settings: Settings, root: Path) -> list[tuple[str, str, str]]:
    """Prompts, key and price of the model that settings name. Asks it nothing, and never shows the key."""
    from graphrag.llm.litellm_door import default_key_name
    from graphrag.llm.prices import price_models
    from graphrag.prompts import list_unread_files
    from graphrag.runs.run_model import load_run_prompts

    found = []
    try:
        prompts = load_run_prompts(settings, root)
        warnings = [line for prompt in prompts.values() for line in prompt.warnings]
        warnings += [*_check_other_prompts(root, set(prompts)), *list_unread_files(root)]
        words = "; ".join(warnings) or f"{len(prompts)} prompts hold what they need"
        found.append(("--" if warnings else "ok", "prompts", words))
    except GraphragError as error:
        found.append(("no", "prompts", str(error)))
    llm = settings.llm
    if recording := recording_name(llm.model):
        is_there = (root / recording).is_file()
        return [*found, ("ok" if is_there else "no", "model", llm.model if is_there else f"no recording {recording}")]
    key_name = llm.api_key_env or default_key_name(llm.model)
    if os.environ.get(key_name) or (llm.api_base and not llm.api_key_env):
        found.append(("ok", "model", llm.model))
    else:
        found.append(("no" if llm.api_key_env else "--", "model", f"{llm.model}: no key in {key_name}"))
    models = sorted({llm.model, *llm.role_models().values()})
    prices = price_models(models, main=llm.model, per_million=llm.price)
    unknown = [model for model in models if prices[model] is None]
    words = f"no price for {', '.join(unknown)}: set llm.price" if unknown else "known for all models"
    found.append(("ok" if not unknown else "no" if llm.budget_usd else "--", "price", words))
    return found
