"""The total reply parser: what a model answered, in any clothes, as typed results. Pure, standard library only.

graph.py          entities and relations of the extraction prompts
graph_records.py  what one record states, an entity or a relation
claims.py         claims of the claims prompt
objects.py        replies asked for as JSON: reports, points, ratings, verdicts; and descriptions
problems.py       why a line or a reply is of no use
fields.py         names, types, predicates, numbers, sentence numbers
records.py        where the records are in a reply: our lines, tuples, JSON
loose_json.py     JSON as models write it
"""
