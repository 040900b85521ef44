import multiprocessing


def work(lock, total, rounds):
    own = 0
    for _ in range(rounds):
        own += sum(n * n % 7 for n in range(60_000))
    with lock:
        total.value += own


if __name__ == "__main__":
    lock, total = multiprocessing.Lock(), multiprocessing.Value("q", 0, lock=False)
    all = [multiprocessing.Process(target=work, args=(lock, total, 50)) for _ in range(2)]
    for one in all:
        one.start()
    for one in all:
        one.join()
    print(total.value)
