/* The letters of a text, consonants and vowels kept apart. Nothing asks whether there is room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 16

struct queue {
    int consonants_used, vowels_used;
    char consonants[SIZE / 2];
    char vowels[SIZE / 2];
};

struct queue *queue_new(int size) {
    struct queue *queue = calloc(1, sizeof *queue);
    return size == SIZE ? queue : NULL;
}

void queue_push(struct queue *queue, char letter) {
    if (strchr("aeiouy", letter))
        queue->vowels[queue->vowels_used++] = letter;
    else if ('a' <= letter && letter <= 'z')
        queue->consonants[queue->consonants_used++] = letter;
}

void queue_push_text(struct queue *queue, const char *text) {
    for (; *text; text++)
        queue_push(queue, *text);
}

int main(int count, char **words) {
    struct queue *queue = queue_new(SIZE);
    queue_push_text(queue, count > 1 ? words[1] : "oh, a nasty bug is here!");
    printf("consonants %.8s, vowels %.8s\n", queue->consonants, queue->vowels);
    free(queue);
    return 0;
}
