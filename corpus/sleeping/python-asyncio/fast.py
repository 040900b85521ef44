import asyncio


async def main():
    total = 0
    for step in range(25):
        total += sum(n % 7 for n in range(60_000))
        await asyncio.sleep(0)
    print(total)


asyncio.run(main())
