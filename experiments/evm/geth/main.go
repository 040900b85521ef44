// Runs many programs in go-ethereum's interpreter, in one process. The evm command would need a process of 56 MB
// for each of them.
//
// Reads lines with a gas limit and hex digits from standard input. Writes a line for each program: the gas it
// used, its output as hex digits after 0x, and go-ethereum's error message if it failed.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"
)

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var gas uint64
		var digits string
		if _, err := fmt.Fscan(in, &gas, &digits); err == io.EOF {
			break
		} else if err != nil {
			fail(err)
		}
		if err := run(out, gas, digits); err != nil {
			fail(err)
		}
	}
	if err := out.Flush(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "evm-geth:", err)
	os.Exit(1)
}

// run calls an account with this code in an otherwise empty state, by the default rules of
// go-ethereum's evm command.
func run(out io.Writer, gas uint64, digits string) error {
	code, err := hex.DecodeString(digits)
	if err != nil {
		return err
	}
	accounts, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		return err
	}
	receiver := common.BytesToAddress([]byte("receiver"))
	accounts.SetCode(receiver, code, tracing.CodeChangeUnspecified)
	output, left, failure := runtime.Call(receiver, nil, &runtime.Config{
		ChainConfig: params.AllDevChainProtocolChanges,
		State:       accounts,
		GasLimit:    gas,
	})
	fmt.Fprintf(out, "%d 0x%x", gas-left, output)
	if failure != nil {
		fmt.Fprintf(out, " %v", failure)
	}
	_, err = fmt.Fprintln(out)
	return err
}
