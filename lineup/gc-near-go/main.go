// Command labels renders labels of parcels; the careful way makes a string for each letter of some.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func joinLetters(number int, careful bool) int {
	text := strconv.Itoa(number * 7919)
	if !careful {
		return len(text)
	}
	label := ""
	for _, letter := range text {
		label += string(letter) + "-"
	}
	return len(label) / 2
}

func countDigits(number int) int {
	count := 0
	for range 60 {
		number = number*1664525 + 1013904223
		count += number & 1
	}
	return count
}

func main() {
	labels, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: labels NUMBER plain|careful")
		os.Exit(2)
	}
	total := 0
	for number := range labels {
		total += joinLetters(number, os.Args[2] == "careful" && number%6 == 0) + countDigits(number)
	}
	fmt.Println(total)
}
