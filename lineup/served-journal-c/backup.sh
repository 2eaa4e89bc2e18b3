# Copies a journal again and again, under the lock of its file.
while :; do
	flock "$1" sleep 0.05
	sleep 0.01
done
