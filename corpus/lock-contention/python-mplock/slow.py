"""Two processes add up what they compute, under a lock that they share, which is held while they compute."""
import multiprocessing


def compute(value):
    for i in range(12000):
        value = (value * 69069 + i) & 0xFFFFFFFF
    return value


def work(lock, total, seed):
    for i in range(400):
        with lock:
            result = compute(seed + i)
            total.value = (total.value + result) & 0xFFFFFFFF


if __name__ == "__main__":
    lock = multiprocessing.Lock()
    total = multiprocessing.Value("L", 0, lock=False)
    workers = [multiprocessing.Process(target=work, args=(lock, total, k * 1000)) for k in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(total.value)
