/* Counts words, and forgets those that came only once. It takes them out of the table while it walks over it, which
 * GLib does not allow: with -DRIGHT the iterator takes them out. */
#include <glib.h>
#include <stdio.h>

static void count(GHashTable *table, const char *text) {
    char **words = g_strsplit(text, " ", -1);
    for (char **word = words; *word; word++) {
        int before = GPOINTER_TO_INT(g_hash_table_lookup(table, *word));
        g_hash_table_insert(table, g_strdup(*word), GINT_TO_POINTER(before + 1));
    }
    g_strfreev(words);
}

static void forget_rare(GHashTable *table) {
    GHashTableIter walk;
    gpointer word, times;
    g_hash_table_iter_init(&walk, table);
    while (g_hash_table_iter_next(&walk, &word, &times))
        if (GPOINTER_TO_INT(times) == 1) {
#ifdef RIGHT
            g_hash_table_iter_remove(&walk);
#else
            g_hash_table_remove(table, word);
#endif
        }
}

int main(void) {
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    count(table, "the seer saw the sea and the sea saw the seer of the argo");
    printf("%u words\n", g_hash_table_size(table));
    forget_rare(table);
    printf("%u words came more than once\n", g_hash_table_size(table));
    g_hash_table_destroy(table);
    return 0;
}
