package main

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// idlest ends the connection that has said nothing for longest when there are too many: agents keep
// theirs from one window to the next, and one that is closed between two requests is opened again.
type idlest struct {
	most   int
	mutex  sync.Mutex
	open   map[net.Conn]*list.Element // nil while a request is served
	silent *list.List                 // the longest first
}

func newIdlest(most int) *idlest {
	return &idlest{most: most, open: map[net.Conn]*list.Element{}, silent: list.New()}
}

// state is told by the server of each connection.
func (i *idlest) state(connection net.Conn, state http.ConnState) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if place := i.open[connection]; place != nil {
		i.silent.Remove(place)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		i.open[connection] = i.silent.PushBack(connection)
	case http.StateActive:
		i.open[connection] = nil
	case http.StateClosed, http.StateHijacked:
		delete(i.open, connection)
	}
	if len(i.open) > i.most {
		if first := i.silent.Front(); first != nil {
			// Its end is told by another call.
			i.silent.Remove(first)
			i.open[first.Value.(net.Conn)] = nil
			go first.Value.(net.Conn).Close()
		}
	}
}
