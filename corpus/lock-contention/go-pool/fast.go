// Workers score documents from a queue, and lock the board only to note the result.
package main

import (
	"fmt"
	"sync"
)

const (
	documents = 1500
	workers   = 4
	rounds    = 160_000
)

type board struct {
	lock sync.Mutex
	best uint64
	seen int
}

func score(document uint64) uint64 {
	value := document*0x9E3779B97F4A7C15 + 1
	for range rounds {
		value = (value ^ value>>29) * 0xBF58476D1CE4E5B9
	}
	return value
}

func (b *board) add(document uint64) {
	value := score(document)
	b.lock.Lock()
	defer b.lock.Unlock()
	b.seen++
	if value > b.best {
		b.best = value
	}
}

func main() {
	queue := make(chan uint64, documents)
	for document := uint64(0); document < documents; document++ {
		queue <- document
	}
	close(queue)
	var all sync.WaitGroup
	var shared board
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for document := range queue {
				shared.add(document)
			}
		}()
	}
	all.Wait()
	fmt.Printf("%d %016x\n", shared.seen, shared.best)
}
