// Command gateway parses orders and forwards them. With -audit each order is
// also written in canonical form and hashed: a path that did not exist before.
package main

import (
	"crypto/sha1"
	"flag"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

func parseOrder(text string) map[string]string {
	fields := map[string]string{}
	for _, pair := range strings.Split(text, "&") {
		if name, value, found := strings.Cut(pair, "="); found {
			fields[name] = strings.ToUpper(value)
		}
	}
	return fields
}

func priceOrder(fields map[string]string) (total int) {
	for name, value := range fields {
		number, _ := strconv.Atoi(strings.TrimPrefix(value, "V"))
		total += number * len(name)
	}
	return total
}

func auditOrder(fields map[string]string) byte {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	var canonical strings.Builder
	for _, name := range names {
		canonical.WriteString(name + ":" + strconv.Quote(fields[name]) + ";")
	}
	return sha1.Sum([]byte(canonical.String()))[0]
}

func orderText(number int) string {
	var text strings.Builder
	for field := range 14 {
		fmt.Fprintf(&text, "field%d=v%d&", field, number*field%1000)
	}
	return text.String()
}

func main() {
	orders := flag.Int("orders", 90000, "orders to forward")
	audit := flag.Bool("audit", false, "hash each order for the auditors")
	flag.Parse()
	total, digest := 0, 0
	for number := range *orders {
		fields := parseOrder(orderText(number))
		total += priceOrder(fields)
		if *audit {
			digest += int(auditOrder(fields))
		}
	}
	fmt.Println(total, digest > 0)
}
