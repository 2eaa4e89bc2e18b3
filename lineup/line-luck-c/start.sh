#!/bin/sh
# start.sh together|apart PROGRAM ARGUMENT...: starts a program with a stack on which two words share a cache
# line, or do not. The length of its environment decides, as that of a host's name or of a folder does.
wanted=$1
shift
pad=
for _ in 1 2 3 4 5 6 7 8; do
	if [ "$(env -i WHERE=1 PAD="$pad" setarch -R "$@")" = "$wanted" ]; then
		exec env -i WHERE=0 PAD="$pad" setarch -R "$@"
	fi
	pad=${pad}16-more-letters-
done
echo "no environment puts them $wanted" >&2
exit 1
