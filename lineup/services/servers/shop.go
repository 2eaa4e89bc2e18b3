//go:build ignore

// A shop that answers requests over HTTP: shop PORT WORK ROUNDS.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
)

type item struct {
	Name  string `json:"name"`
	Price int    `json:"price"`
	Tags  []string
}

const pattern = `^([a-z]+)-([0-9]{1,6})(?:/(red|green|blue))?(?:\?(.*))?$`

var compiled = regexp.MustCompile(pattern)

// seal signs an answer over and over.
func seal(body []byte, rounds int) string {
	sum := sha256.Sum256(body)
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	return fmt.Sprintf("%x", sum[:4])
}

// route takes the path apart.
func route(path string, again bool) string {
	expression := compiled
	if again {
		expression = regexp.MustCompile(pattern)
	}
	return strings.Join(expression.FindStringSubmatch(path), "|")
}

func main() {
	work := os.Args[2]
	rounds, _ := strconv.Atoi(os.Args[3])
	items := []item{}
	for i := range 20 {
		items = append(items, item{Name: fmt.Sprint("thing ", i), Price: i * 7, Tags: []string{"a", "b"}})
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := json.Marshal(items)
		found := route("shirt-4711/red?size=3", work == "compile")
		fmt.Fprintln(w, seal(body, rounds), found, len(body))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("localhost:"+os.Args[1], nil))
	os.Exit(1)
}
