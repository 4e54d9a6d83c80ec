#ifndef RIDEPULSE_CMICROHTTPD_H
#define RIDEPULSE_CMICROHTTPD_H

#include <microhttpd.h>

/* MHD_start_daemon is a variadic function, which Swift cannot call: one door with what we pass.
   A thread for each connection, which may wait for its answer. */
static inline struct MHD_Daemon *ridepulse_mhd_start(
    int listen_socket, MHD_AccessHandlerCallback answer, MHD_RequestCompletedCallback completed,
    void *context, unsigned int connections, unsigned int timeout_seconds) {
  return MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL,
      NULL, answer, context, MHD_OPTION_LISTEN_SOCKET, listen_socket, MHD_OPTION_NOTIFY_COMPLETED,
      completed, context, MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds, MHD_OPTION_END);
}

#endif
