"""The way to language models: every question goes memo -> budget -> limiter -> model -> ledger -> memo.

litellm_door.py: any model that litellm knows, the only door to it; replay.py: a script or a recording in its place;
door.py: the way of a question, the same for all of them; chat.py: questions and replies as values; concurrency.py: many
at once; attempts.py, limiter.py, retries.py, faults.py: one question over all its attempts; budget.py, prices.py,
ledger.py, plan.py: what it costs, before and after; embeddings.py: what of a service's vectors can be trusted.

litellm itself (3 CPU s) is imported when a LiteLlm is made, not here.
"""

from graphrag.llm.budget import Budget
from graphrag.llm.chat import ChatReply, ChatRequest, Completion, Message, Role, models_of_roles
from graphrag.llm.concurrency import map_concurrently
from graphrag.llm.door import Llm, chat_many
from graphrag.llm.ledger import CallLedger
from graphrag.llm.litellm_door import LiteLlm, open_llm
from graphrag.llm.plan import plan_calls
from graphrag.llm.prices import price_models
from graphrag.llm.recording import Recording
from graphrag.llm.replay import ReplayLlm, ScriptedFault, ScriptedLlm

__all__ = [
    "Budget", "CallLedger", "ChatReply", "ChatRequest", "Completion", "LiteLlm", "Llm", "Message", "Recording",
    "ReplayLlm", "Role", "ScriptedFault", "ScriptedLlm", "chat_many", "map_concurrently", "models_of_roles",
    "open_llm", "plan_calls", "price_models",
]  # fmt: skip
