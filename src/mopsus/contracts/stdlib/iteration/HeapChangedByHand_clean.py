"""Taken out, and put in order again."""

import heapq

heap = []
for number in (5, 3, 8, 1):
    heapq.heappush(heap, number)
heap.remove(3)
heapq.heapify(heap)
heapq.heappop(heap)
