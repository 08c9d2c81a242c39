"""Reading English without a language model: pure parts of the embedded extraction (index/nlp_extraction.py joins them).

parsing.py: the door to spaCy, processes and the memo; markup.py, sentences.py, words.py: a text made ready; runs.py,
spans.py, names.py, types.py, lexicon.py, corpus.py: which words are a name, and of what; tree.py, relations.py,
predicates.py, references.py: relations from a parse; patterns.py, fields.py: relations from words and fields alone.
"""
