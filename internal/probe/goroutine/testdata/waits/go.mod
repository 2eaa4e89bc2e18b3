module waits

go 1.21
