package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// peerOwner finds whose socket the other end of a local connection is. It is asked of the kernel by
// the connection's four numbers. A socket that its process has closed is refused: the kernel would
// call root its owner.
func peerOwner(connection net.Conn) (uid uint32, err error) {
	client, errClient := netip.ParseAddrPort(connection.RemoteAddr().String())
	server, errServer := netip.ParseAddrPort(connection.LocalAddr().String())
	if err := errors.Join(errClient, errServer); err != nil {
		return 0, fmt.Errorf("find owner of connection: %w", err)
	}
	answer, err := askSocket(client, server)
	if err != nil {
		return 0, fmt.Errorf("find owner of connection: %w", err)
	}
	return ownerOf(answer, client.Port(), server.Port())
}

// The numbers of linux/inet_diag.h and sock_diag.h that unix does not have.
const (
	sockDiagByFamily = 20
	requestSize      = 56 // struct inet_diag_req_v2
	answerSize       = 72 // struct inet_diag_msg
	listening        = 10 // TCP_LISTEN
	headerSize       = 16 // struct nlmsghdr
)

// askSocket asks for one TCP socket: that of the client, for which the server is the other end.
func askSocket(client, server netip.AddrPort) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return nil, os.NewSyscallError("setsockopt", err)
	}
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(fd, socketRequest(client, server), 0, kernel); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return nil, os.NewSyscallError("recvfrom", err)
	}
	return answer[:n], nil
}

// socketRequest is a netlink message with a struct inet_diag_req_v2.
func socketRequest(client, server netip.AddrPort) []byte {
	message := make([]byte, headerSize+requestSize)
	binary.NativeEndian.PutUint32(message[0:], uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST)
	request := message[headerSize:]
	from, to := client.Addr().Unmap(), server.Addr().Unmap()
	request[0], request[1] = unix.AF_INET, unix.IPPROTO_TCP
	if from.Is6() {
		request[0] = unix.AF_INET6
	}
	binary.NativeEndian.PutUint32(request[4:], 0xffffffff) // any state
	binary.BigEndian.PutUint16(request[8:], client.Port())
	binary.BigEndian.PutUint16(request[10:], server.Port())
	copy(request[12:28], from.AsSlice())
	copy(request[28:44], to.AsSlice())
	// The interface stays 0, and both halves of the cookie say that none is known.
	binary.NativeEndian.PutUint64(request[48:], 0xffffffffffffffff)
	return message
}

// ownerOf reads the answer: an error number, or a struct inet_diag_msg.
func ownerOf(answer []byte, from, to uint16) (uint32, error) {
	if len(answer) < headerSize+4 {
		return 0, errors.New("find owner of connection: the kernel's answer is cut short")
	}
	body := answer[headerSize:]
	if binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR {
		number := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
		return 0, fmt.Errorf("find owner of connection: %w", number)
	}
	if len(body) < answerSize {
		return 0, errors.New("find owner of connection: the kernel's answer is cut short")
	}
	if body[1] == listening || binary.BigEndian.Uint16(body[4:]) != from || binary.BigEndian.Uint16(body[6:]) != to {
		return 0, errors.New("find owner of connection: it is not a connection of this host")
	}
	if inode := binary.NativeEndian.Uint32(body[68:]); inode == 0 {
		return 0, errors.New("find owner of connection: its process has closed it")
	}
	return binary.NativeEndian.Uint32(body[64:]), nil
}
