import multiprocessing


def work(lock, total):
    for _ in range(25):
        with lock:
            total.value += sum(n * n % 7 for n in range(60_000))


if __name__ == "__main__":
    lock, total = multiprocessing.Lock(), multiprocessing.Value("q", 0, lock=False)
    all = [multiprocessing.Process(target=work, args=(lock, total)) for _ in range(4)]
    for one in all:
        one.start()
    for one in all:
        one.join()
    print(total.value)
