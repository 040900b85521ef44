"""Drop files from the page cache: evict.py FILE..."""

import os
import sys

for name in sys.argv[1:]:
    descriptor = os.open(name, os.O_RDONLY)
    os.fsync(descriptor)  # dirty pages can't be dropped
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
