"""When do two names mean one thing? Pure parts of disambiguation (index/disambiguation.py joins them).

Names: normalisation.py (mentions to keys), nodes.py, homonyms.py and namesakes.py (one name, two things),
common_words.py. Declared: alias_rules.py and alias_file.py (aliases.toml), declared_aliases.py, phrases.py,
qualified_names.py. Rules: rules.py, person_rules.py, spelling_rules.py, word_forms.py, country_names.py; vetoes.py says
what forbids, entity_types.py which types do.
Candidates that nobody decides: candidates.py ranks what look_alikes.py and blocking.py (form), company.py (place) and
name_vectors.py (meaning) find. Decisions: decisions.py, unions.py (what may be one), clusters.py, verdicts.py (of a
judge); then entities.py and titles.py.
"""
