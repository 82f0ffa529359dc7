"""After something was taken out of its middle, a heap is none."""

import heapq

heap = []
for number in (5, 3, 8, 1):
    heapq.heappush(heap, number)
heap.remove(3)
heapq.heappop(heap)  # violation
