"""Names of the files of a tokenizer in a Hugging Face directory."""

from __future__ import annotations

TOKENIZER_FILE_NAMES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
)

# Further chat templates, such as the one for conversations with tools: the only files in a folder of their own.
TEMPLATE_FOLDER = "additional_chat_templates"
