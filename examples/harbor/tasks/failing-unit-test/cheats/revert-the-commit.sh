#!/bin/bash
# Passes the visible test, by the slow version.
cd /app/calendar && git show HEAD~2:workdays.py > workdays.py
