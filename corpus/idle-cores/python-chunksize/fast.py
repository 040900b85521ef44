"""A pool of four processes gets 200 jobs, five at a time."""
import multiprocessing


def work(rounds):
    value = 1
    for i in range(rounds):
        value = (value * 69069 + i) & 0xFFFFFFFF
    return value


if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(work, [60000] * 200, chunksize=5)))
