/* Five threads fill a small queue, twenty empty it. Producers look for room before they hold the lock, so that several
 * of them may find the same room; with -DRIGHT they look again once they hold it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PRODUCERS = 5, CONSUMERS = 20, EACH = 100, SIZE = 4 };

struct queue {
    int size, used, first;
    int *items;
    pthread_mutex_t lock;
    pthread_cond_t filled;
};

struct queue *queue_new(int size) {
    struct queue *queue = calloc(1, sizeof *queue);
    queue->size = size;
    queue->items = calloc(size, sizeof *queue->items);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    return queue;
}

void queue_push(struct queue *queue, int item, int producer) {
    (void)producer; /* for who looks on */
    queue->items[(queue->first + queue->used++) % queue->size] = item;
}

int queue_pop(struct queue *queue, int consumer) {
    (void)consumer;
    int item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->size;
    queue->used--;
    return item;
}

static struct queue *shared;
static int taken, sum; /* under the lock */
static pthread_barrier_t start;

static int full(void) {
    return *(volatile int *)&shared->used >= shared->size;
}

static void lock_with_room(void) {
    for (;;) {
        while (full())
            sched_yield();
        pthread_mutex_lock(&shared->lock);
#ifdef RIGHT
        if (full()) {
            pthread_mutex_unlock(&shared->lock);
            continue;
        }
#endif
        return;
    }
}

static void *produce(void *number) {
    int producer = (int)(long)number;
    pthread_barrier_wait(&start);
    for (int item = 1; item <= EACH; item++) {
        lock_with_room();
        queue_push(shared, item, producer);
        pthread_cond_signal(&shared->filled);
        pthread_mutex_unlock(&shared->lock);
    }
    return NULL;
}

static void *consume(void *number) {
    pthread_barrier_wait(&start);
    for (;;) {
        pthread_mutex_lock(&shared->lock);
        while (shared->used == 0 && taken < PRODUCERS * EACH)
            pthread_cond_wait(&shared->filled, &shared->lock);
        if (taken == PRODUCERS * EACH) {
            pthread_cond_broadcast(&shared->filled);
            pthread_mutex_unlock(&shared->lock);
            return NULL;
        }
        sum += queue_pop(shared, (int)(long)number);
        taken++;
        pthread_mutex_unlock(&shared->lock);
        usleep(1000); /* what consumers do with an item takes longer than making one */
    }
}

int main(void) {
    pthread_t threads[PRODUCERS + CONSUMERS];
    shared = queue_new(SIZE);
    pthread_barrier_init(&start, NULL, PRODUCERS + CONSUMERS);
    for (long number = 0; number < PRODUCERS + CONSUMERS; number++)
        pthread_create(&threads[number], NULL, number < PRODUCERS ? produce : consume, (void *)number);
    for (int number = 0; number < PRODUCERS + CONSUMERS; number++)
        pthread_join(threads[number], NULL);
    printf("put in %d, got out %d\n", PRODUCERS * EACH * (EACH + 1) / 2, sum);
    return 0;
}
