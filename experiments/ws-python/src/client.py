"""The same two clients as client.js, in Python with the package websockets.

    python3 client.py URL ROUND_TRIPS [deflate|plain]
"""

import asyncio
import sys
import time

import websockets


async def answer(socket):
    async for _ in socket:
        await socket.send("client 2!")


async def main(url, wanted, compression):
    async with (
        websockets.connect(url, compression=compression) as first,
        websockets.connect(url, compression=compression) as second,
    ):
        partner = asyncio.create_task(answer(second))
        cpu_before = time.process_time()
        start = time.perf_counter()
        times = []
        for _ in range(wanted):
            sent = time.perf_counter()
            await first.send("client 1!")
            await first.recv()
            times.append(time.perf_counter() - sent)
        seconds = time.perf_counter() - start
        cpu = time.process_time() - cpu_before
        extensions = ", ".join(e.name for e in first.protocol.extensions) or "none"
        print(f"{wanted / seconds:.1f} round trips/s, extension {extensions}")
        slow = sorted(times)[-(-99 * wanted // 100) - 1]
        print(f"slowest but one in a hundred {slow * 1e3:.3f} ms")
        print(f"client CPU {cpu / wanted * 1e6:.1f} us a round trip")
        partner.cancel()


compression = None if sys.argv[3:] == ["plain"] else "deflate"
asyncio.run(main(sys.argv[1], int(sys.argv[2]), compression))
