package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// What each protocol asks for, and how the end of its answer is told.

func askHTTP(connection io.ReadWriter) (session, error) {
	in := bufio.NewReader(connection)
	return func() error {
		if _, err := io.WriteString(connection, "GET /item/17 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("the server says %s", answer.Status)
		}
		return answer.Body.Close()
	}, nil
}

func askTLS(connection io.ReadWriter) (session, error) {
	stamped := connection.(*stamped)
	secured := tls.Client(stamped, &tls.Config{InsecureSkipVerify: true}) // a certificate of this minute
	if err := secured.Handshake(); err != nil {
		return nil, fmt.Errorf("begin TLS: %w", err)
	}
	return askHTTP(secured)
}

// lines asks for a line and awaits an answer that ends so.
func lines(question, end string) func(io.ReadWriter) (session, error) {
	return func(connection io.ReadWriter) (session, error) {
		answer := make([]byte, 4096)
		return func() error {
			if _, err := io.WriteString(connection, question); err != nil {
				return err
			}
			for have := 0; ; {
				n, err := connection.Read(answer[have:])
				if err != nil {
					return err
				}
				have += n
				if answer[0] == '-' || bytes.HasPrefix(answer[:have], []byte("ERROR")) {
					return fmt.Errorf("the server says %q", answer[:have])
				}
				if bytes.HasSuffix(answer[:have], []byte(end)) {
					return nil
				}
			}
		}, nil
	}
}

// askPostgres speaks version 3.0 of PostgreSQL's protocol to a server that trusts everybody.
func askPostgres(connection io.ReadWriter) (session, error) {
	in := bufio.NewReader(connection)
	ready := func() error {
		for {
			head := make([]byte, 5)
			if _, err := io.ReadFull(in, head); err != nil {
				return err
			}
			body := make([]byte, max(0, int(binary.BigEndian.Uint32(head[1:]))-4))
			if _, err := io.ReadFull(in, body); err != nil {
				return err
			}
			switch head[0] {
			case 'E':
				return fmt.Errorf("the server says %q", body)
			case 'Z':
				return nil
			}
		}
	}
	begin := binary.BigEndian.AppendUint32(nil, 3<<16)
	begin = append(begin, "user\x00postgres\x00database\x00postgres\x00\x00"...)
	if _, err := connection.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(begin)+4)), begin...)); err != nil {
		return nil, err
	}
	statement := "select sum(i) from generate_series(1, 50) i\x00"
	query := append([]byte{'Q'}, binary.BigEndian.AppendUint32(nil, uint32(len(statement)+4))...)
	query = append(query, statement...)
	return func() error {
		if _, err := connection.Write(query); err != nil {
			return err
		}
		return ready()
	}, ready()
}

// askMySQL speaks the protocol of MySQL and MariaDB to a server that checks no passwords.
func askMySQL(connection io.ReadWriter) (session, error) {
	in := bufio.NewReader(connection)
	packet := func() ([]byte, error) {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return nil, err
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		_, err := io.ReadFull(in, body)
		if err == nil && len(body) > 0 && body[0] == 0xff {
			err = fmt.Errorf("the server says %q", body)
		}
		return body, err
	}
	if _, err := packet(); err != nil { // its greeting
		return nil, err
	}
	const plugin = "mysql_native_password"
	const abilities = 0x00000200 | 0x00008000 | 0x00080000 // protocol 4.1, secure connection, plugin's name
	hello := binary.LittleEndian.AppendUint32(nil, abilities)
	hello = binary.LittleEndian.AppendUint32(hello, 1<<24)
	hello = append(append(hello, 33), make([]byte, 23)...)
	hello = append(hello, "root\x00\x00"+plugin+"\x00"...)
	if _, err := connection.Write(append([]byte{byte(len(hello)), 0, 0, 1}, hello...)); err != nil {
		return nil, err
	}
	if body, err := packet(); err != nil || len(body) == 0 || body[0] != 0 {
		return nil, errors.Join(err, fmt.Errorf("the server does not take user root: %q", body))
	}
	query := append([]byte{}, "\x03select benchmark(200, 1+1)"...)
	query = append([]byte{byte(len(query)), 0, 0, 0}, query...)
	return func() error {
		if _, err := connection.Write(query); err != nil {
			return err
		}
		for ends := 0; ends < 2; { // of the columns, and of the rows
			body, err := packet()
			if err != nil {
				return err
			}
			if len(body) > 0 && len(body) < 9 && body[0] == 0xfe {
				ends++
			}
		}
		return nil
	}, nil
}
