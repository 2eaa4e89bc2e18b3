//go:build !amd64

package bench

// codeProof says that this architecture's machine code is not read.
func codeProof() string { return "machine code not checked on this architecture" }
