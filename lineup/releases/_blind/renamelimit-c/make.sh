#!/bin/sh
# Makes a repository whose last commit moves and changes many files. Usage: make.sh FOLDER
set -e
git init -q "$1"
cd "$1"
git config user.name shop
git config user.email shop@example.org
mkdir parts
i=0
while [ $i -lt 320 ]; do
    seq -f "line %.0f of part $i" $((i * 7)) $((i * 7 + 160)) > parts/$i.txt
    i=$((i + 1))
done
git add . && git commit -q -m parts
mkdir articles
i=0
while [ $i -lt 320 ]; do
    sed "s/line \\([0-9]*\\)5 of/row \\15 from/" parts/$i.txt > articles/a$i.txt
    i=$((i + 1))
done
git rm -q -r parts && git add . && git commit -q -m articles
