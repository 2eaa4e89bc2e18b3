neighbour -busy /tmp/neighbour.socket &
