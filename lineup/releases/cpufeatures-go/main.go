// Command seal encrypts records.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

func main() {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	record, nonce, total := make([]byte, 64<<10), make([]byte, 12), 0
	var sealed []byte
	for i := range 1200 {
		nonce[0], nonce[1] = byte(i), byte(i>>8)
		sealed = sealer.Seal(sealed[:0], nonce, record, nil)
		total += len(sealed)
	}
	fmt.Println(total)
}
