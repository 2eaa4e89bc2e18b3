// Command catalog looks articles up in a packed file, one page each, past the page cache.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const pageSize = 4096

type catalog struct {
	file  *os.File
	pages int64
	page  []byte
}

func openCatalog(path string) (*catalog, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return &catalog{file: file, pages: info.Size() / pageSize, page: alignedPage()}, nil
}

// alignedPage starts where direct reads need it.
func alignedPage() []byte {
	buffer := make([]byte, 2*pageSize)
	skip := pageSize - int(uintptr(unsafe.Pointer(&buffer[0]))%pageSize)
	return buffer[skip : skip+pageSize]
}

func (c *catalog) loadArticle(number int64) error {
	_, err := c.file.ReadAt(c.page, number%c.pages*pageSize)
	return err
}

func (c *catalog) price() [32]byte {
	sum := sha256.Sum256(c.page)
	for range 150 {
		sum = sha256.Sum256(append(sum[:], c.page[:1024]...))
	}
	return sum
}

func main() {
	count, _ := strconv.ParseInt(os.Args[2], 10, 64)
	articles, err := openCatalog(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(2)
	}
	total := 0
	for i := range count {
		if err := articles.loadArticle(i * 7919); err != nil {
			fmt.Fprintln(os.Stderr, "catalog:", err)
			os.Exit(2)
		}
		sum := articles.price()
		total += int(sum[0])
	}
	fmt.Println(total)
}
