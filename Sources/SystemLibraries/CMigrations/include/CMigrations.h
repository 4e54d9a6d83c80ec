#ifndef RIDEPULSE_CMIGRATIONS_H
#define RIDEPULSE_CMIGRATIONS_H

/* The numbered files of sql/, carried in the binary so that it works alone.
   Names and contents end with a NUL; the list ends with a NULL name. */
struct ridepulse_migration {
  const char *name;
  const char *text;
};

extern const struct ridepulse_migration ridepulse_migrations[];

/* Swift reads an array of unknown length as its first element; this one counts from there. */
static inline const struct ridepulse_migration *ridepulse_migration_at(long index) {
  const struct ridepulse_migration *entry = &ridepulse_migrations[index];
  return entry->name ? entry : (const struct ridepulse_migration *)0;
}

#endif
