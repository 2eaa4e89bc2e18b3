package agent

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Limits of a token.
const (
	tokenMin = 16
	tokenMax = 1024
)

// readToken reads the token of a file that nobody else may read. It is read for each window, so
// that it can be exchanged.
func readToken(name string) (string, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("token file %s is no file; give one with the token in it", name)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("token file %s can be read by others (mode %04o); chmod 600 %s", name, info.Mode().Perm(),
			name)
	}
	text, err := io.ReadAll(io.LimitReader(file, tokenMax+2))
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	if len(token) < tokenMin || len(token) > tokenMax || odd {
		return "", fmt.Errorf("token file %s: a token has %d to %d characters of ASCII without spaces", name, tokenMin,
			tokenMax)
	}
	return token, nil
}
