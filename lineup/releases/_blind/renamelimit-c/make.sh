#!/bin/sh
# Makes a repository with small changes to many files, whose last commit moves and changes all. Usage: make.sh FOLDER
set -e
git init -q "$1"
cd "$1"
git config user.name shop
git config user.email shop@example.org
mkdir parts
for i in $(seq 560); do seq -f "line %.0f of part $i" $((i * 7)) $((i * 7 + 160)) > parts/$i.txt; done
git add . && git commit -q -m parts
for change in $(seq 12); do
    sed -i "$((change * 9))s/of/in change $change of/" parts/*.txt
    git commit -q -a -m "change $change"
done
git mv parts articles
for i in $(seq 560); do mv articles/$i.txt articles/a$i.txt; done
sed -i "s/line \([0-9]*\)5 of/row \15 from/" articles/*.txt
git add -A . && git commit -q -m articles
