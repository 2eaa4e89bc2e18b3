package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"culprit/internal/investigate"
)

// documentBytesMax bounds a case document that is read back: the largest that were seen have 9 MB,
// and what is read takes several times its size in memory.
const documentBytesMax = 128 << 20

// JSON writes the case as one document of schema culprit.case/2. Every field of
// the contract is there: a list without elements is [], a number that is not
// finite is null, so that no reader meets NaN, which JSON does not have.
func JSON(w io.Writer, c *investigate.Case) error {
	text, err := document(c)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write case document: %w", err)
	}
	return nil
}

func document(c *investigate.Case) ([]byte, error) {
	if c == nil {
		return nil, fmt.Errorf("write case document: no case given")
	}
	e := &encoder{}
	if err := e.value(c); err != nil {
		return nil, fmt.Errorf("encode case document: %w", err)
	}
	e.out.WriteByte('\n')
	return e.out.Bytes(), nil
}

// Read reads a document that JSON wrote, and those of the first schema, of which it makes what they
// would be today. It refuses other schemas, anything after the document, and documents above
// documentBytesMax.
func Read(r io.Reader) (*investigate.Case, error) {
	text, err := io.ReadAll(io.LimitReader(r, documentBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read case document: %w", err)
	}
	if len(text) > documentBytesMax {
		return nil, fmt.Errorf("read case document: larger than %d MiB", documentBytesMax>>20)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var c investigate.Case
	if err := decoder.Decode(&c); err != nil {
		// The fields of another schema may have other types: what is wrong then is the schema.
		var named struct{ Schema string }
		if json.Unmarshal(text, &named) == nil && checkSchema(named.Schema) != nil {
			err = checkSchema(named.Schema)
		}
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if syntax := new(json.SyntaxError); cut || errors.As(err, &syntax) {
			err = fmt.Errorf("it is no case (%w); give the directory that investigate named", err)
		}
		return nil, fmt.Errorf("read case document: %w", err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("read case document: something follows the document")
	}
	if err := checkSchema(c.Schema); err != nil {
		return nil, fmt.Errorf("read case document: %w", err)
	}
	c.FromWords()
	if c.Schema == investigate.CaseSchemaFirst {
		c.Schema = investigate.CaseSchema
		for i := range c.Suspects {
			c.Suspects[i].FromWords()
		}
	}
	return &c, nil
}

func checkSchema(schema string) error {
	if schema == investigate.CaseSchema || schema == investigate.CaseSchemaFirst {
		return nil
	}
	return fmt.Errorf("schema is %q, and this culprit reads %q and %q: was it written by a newer one?",
		visible(schema, 40), investigate.CaseSchemaFirst, investigate.CaseSchema)
}
