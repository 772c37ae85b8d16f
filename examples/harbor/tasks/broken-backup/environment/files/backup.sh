#!/bin/bash
# Copies all files that end in .conf from SOURCE to TARGET, with their folders.
SOURCE=$1
TARGET=$2
mkdir $TARGET
for file in $(find $SOURCE -name *.conf); do
  mkdir -p $TARGET/$(dirname $file)
  cp $file $TARGET/$file
done
echo copied $(ls $TARGET | wc -l) files
