package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The scopes of a token.
const (
	Write = "write" // agents
	Read  = "read"  // people who ask
	// Baseline is for checks in CI: it saves what they measure, and reads that, and nothing else.
	Baseline = "baseline"
)

// Token is one that was given out; only its hash is kept.
type Token struct {
	Tenant string `json:"tenant"`
	Scope  string `json:"scope"`
	Hash   string `json:"sha256"`
	Note   string `json:"note,omitempty"`
}

// tokensFile lies in the store's directory, readable by its owner only.
const tokensFile = "tokens.json"

// IsTenant tells whether text can name a tenant, which is a directory.
func IsTenant(text string) bool {
	if text == "" || len(text) > 63 || strings.HasPrefix(text, "-") {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

func isScope(text string) bool { return text == Write || text == Read || text == Baseline }

// ReadTokens reads the tokens of a store; none of one that is new.
func ReadTokens(directory string) ([]Token, error) {
	text, err := os.ReadFile(filepath.Join(directory, tokensFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	var tokens []Token
	if err := json.Unmarshal(text, &tokens); err != nil {
		return nil, fmt.Errorf("read tokens: %s: %w", filepath.Join(directory, tokensFile), err)
	}
	for _, token := range tokens {
		if !IsTenant(token.Tenant) || !isScope(token.Scope) || len(token.Hash) != 64 {
			return nil, fmt.Errorf("read tokens: %s: tenant %q with scope %q is none", filepath.Join(directory, tokensFile),
				token.Tenant, token.Scope)
		}
	}
	return tokens, nil
}

// AddToken makes a token and returns it: this is the only time that it can be seen.
func AddToken(directory, tenant, scope, note string) (string, error) {
	if !IsTenant(tenant) {
		return "", fmt.Errorf("tenant %q: small letters, digits, - and _, at most 63", tenant)
	}
	if !isScope(scope) {
		return "", fmt.Errorf("scope %q: %s, %s or %s", scope, Write, Read, Baseline)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", fmt.Errorf("add token: %w", err)
	}
	tokens, err := ReadTokens(directory)
	if err != nil {
		return "", err
	}
	secret := rand.Text()
	text, err := json.MarshalIndent(append(tokens, Token{tenant, scope, hashOf(secret), note}), "", " ")
	if err != nil {
		return "", fmt.Errorf("add token: %w", err)
	}
	next := filepath.Join(directory, tokensFile+".new")
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("add token: %w", err)
	}
	if err := os.Rename(next, filepath.Join(directory, tokensFile)); err != nil {
		return "", fmt.Errorf("add token: %w", err)
	}
	return secret, nil
}

// hashOf is fast on purpose: a token has 128 random bits, which nobody guesses.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
