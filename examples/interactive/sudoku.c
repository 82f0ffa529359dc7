/* Solves a Sudoku by trying. One number in it was changed on purpose: now it calls a good board a bad one. */
#include <stdio.h>
#include <stdlib.h>

#ifndef COLUMNS
#define COLUMNS 10
#endif

struct board {
    char cells[9][COLUMNS];
};

static const char *puzzle = "53..7...." "6..195..." ".98....6." "8...6...3" "4..8.3..1" "7...2...6" ".6....28." "...419..5"
                            "....8..79";

struct board *board_new(void) {
    return calloc(1, sizeof(struct board));
}

/* Does no row, column or box have a number twice? */
int board_allowed(const struct board *board) {
    int rows[9] = {0}, columns[9] = {0}, boxes[9] = {0};
    for (int row = 0; row < 9; row++)
        for (int column = 0; column < 9; column++) {
            int bit = 1 << board->cells[row][column] & ~1, box = row / 3 * 3 + column / 3;
            if ((rows[row] | columns[column] | boxes[box]) & bit)
                return 0;
            rows[row] |= bit, columns[column] |= bit, boxes[box] |= bit;
        }
    return 1;
}

int board_load(struct board *board, const char *text) {
    char numbers[81], *cell = board->cells[0];
    for (int each = 0; each < 81; each++)
        numbers[each] = text[each] == '.' ? 0 : text[each] - '0';
    for (int each = 0; each < 81; each++)
        *cell++ = numbers[each];
    return board_allowed(board);
}

void board_set(struct board *board, int row, int column, int number) {
    board->cells[row][column] = number;
}

int board_solve(struct board *board, int at) {
    int row = at / 9, column = at % 9;
    if (at == 81)
        return 1;
    if (board->cells[row][column])
        return board_solve(board, at + 1);
    for (int number = 1; number <= 9; number++) {
        board_set(board, row, column, number);
        if (board_allowed(board) && board_solve(board, at + 1))
            return 1;
    }
    board_set(board, row, column, 0);
    return 0;
}

int main(int count, char **words) {
    struct board *board = board_new();
    if (!board_load(board, count > 1 ? words[1] : puzzle)) {
        puts("bad board");
        return 1;
    }
    if (!board_solve(board, 0)) {
        puts("no solution");
        return 1;
    }
    for (int row = 0; row < 9; row++) {
        for (int column = 0; column < 9; column++)
            putchar('0' + board->cells[row][column]);
        putchar('\n');
    }
    return 0;
}
