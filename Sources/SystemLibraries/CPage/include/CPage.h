#ifndef RIDEPULSE_CPAGE_H
#define RIDEPULSE_CPAGE_H

/* The files of page/, carried in the binary so that it works alone.
   The list ends with a NULL name; a text is not ended by a NUL, it has its size. */
struct ridepulse_page_file {
  const char *name;
  const unsigned char *text;
  unsigned long size;
};

extern const struct ridepulse_page_file ridepulse_page_files[];

/* Swift reads an array of unknown length as its first element; this one counts from there. */
static inline const struct ridepulse_page_file *ridepulse_page_file_at(long index) {
  const struct ridepulse_page_file *entry = &ridepulse_page_files[index];
  return entry->name ? entry : (const struct ridepulse_page_file *)0;
}

#endif
