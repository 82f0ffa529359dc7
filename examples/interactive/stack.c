/* Puts the first hundred numbers on a stack and takes each off again, as many rounds as asked for. */
#include <stdio.h>
#include <stdlib.h>

struct stack {
    int used;
    int items[100];
};

void stack_push(struct stack *stack, int item) {
    stack->items[stack->used++] = item;
}

int stack_pop(struct stack *stack) {
    return stack->items[--stack->used];
}

int main(int count, char **words) {
    struct stack stack = {0};
    int rounds = count > 1 ? atoi(words[1]) : 1;
    long sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int item = 0; item < 100; item++) {
            stack_push(&stack, item);
            sum += stack_pop(&stack);
        }
    printf("%ld\n", sum);
    return 0;
}
