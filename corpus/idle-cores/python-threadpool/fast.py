from concurrent.futures import ProcessPoolExecutor


def count(limit):
    total = 0
    for number in range(limit):
        total += number * number % 7
    return total


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(count, [400_000] * 12)))
