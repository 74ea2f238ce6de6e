"""Asking a language model: what is sent (prompts), how (endpoint), in which order (asking), what comes back (answers),
where phrases stand (aligning), what is kept (cache) and what it took (usage)."""
