// Fetchers wait for the store, and lock the cache only to put the value in.
package main

import (
	"fmt"
	"sync"
	"time"
)

const (
	keys     = 120
	fetchers = 6
)

type cache struct {
	lock   sync.RWMutex
	values map[int]int
}

// A store that answers after a while.
func fetch(key int) int {
	time.Sleep(4 * time.Millisecond)
	return key * key
}

func (c *cache) load(key int) {
	value := fetch(key)
	c.lock.Lock()
	defer c.lock.Unlock()
	c.values[key] = value
}

func main() {
	shared := cache{values: map[int]int{}}
	var all sync.WaitGroup
	for first := range fetchers {
		all.Add(1)
		go func() {
			defer all.Done()
			for key := first; key < keys; key += fetchers {
				shared.load(key)
			}
		}()
	}
	all.Wait()
	sum := 0
	for _, value := range shared.values {
		sum += value
	}
	fmt.Println(len(shared.values), sum)
}
