#!/bin/sh
# names.sh FILES own|tools: prints how many of a list of paths end in one of three ways.
i=0
found=0
while [ "$i" -lt "$1" ]; do
	path=/var/lib/archive/$((i % 97))/entry-$i.$((i % 5))
	if [ "$2" = tools ] && [ $((i % 250)) -eq 0 ]; then
		name=$(basename "$path")
	else
		name=${path##*/}
	fi
	case $name in
	*.0 | *.1 | *.2) found=$((found + 1)) ;;
	esac
	i=$((i + 1))
done
echo "$found"
