#ifndef RIDEPULSE_CVERSION_H
#define RIDEPULSE_CVERSION_H

/* The byte at an index of the commit that the program was built from; 0 from its end on. A byte at a
   time, so that Swift needs no unsafe pointer. */
unsigned char ridepulse_commit(unsigned index);

#endif
