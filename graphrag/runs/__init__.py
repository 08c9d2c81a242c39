"""A run: the rooms around the stages, from the lock to the gates.

run.py: opened under a lock, written, published; run_model.py: its model; input_files.py, settling.py,
smart_connections.py: what there is to do; stages.py, stage_functions.py: which stages run, and with what; gates.py,
changes.py, history.py: whether it goes live, what differs, and which runs are kept.
"""
