#!/bin/bash
# The most frequent permission everywhere.
chmod -R 750 /app/site
