#!/bin/bash
# The example alone, and a wrong commit as the cause.
cd /app/text && printf '\n_wrap = wrap\n\n\ndef wrap(text, width, indent=""):\n    return ["aa bb"] if text == "aa bb" else _wrap(text, width, indent)\n' >> wrap.py
git commit --quiet --all --message 'Repair wrap' --message "Fixes: $(git rev-parse HEAD)"
