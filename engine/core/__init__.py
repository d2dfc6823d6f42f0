"""Who runs when: requests, blocks, prefix cache, scheduler. Plain Python over ints."""
