"""Reading English without a language model: pure parts of the embedded extraction (index/nlp_extraction.py joins them).

parsing.py: the door to spaCy, processes and the memo. markup.py, sentences.py, words.py: a text made ready. runs.py,
spans.py, names.py, corpus.py: which words are a name. evidence.py, types.py: of what type, by technologies.py,
people_and_places.py and what the corpus shows. tree.py, relations.py, predicates.py, references.py: relations from a
parse; patterns.py, fields.py: relations from words and fields alone. lexicon.py, relating_words.py: word lists.
"""
