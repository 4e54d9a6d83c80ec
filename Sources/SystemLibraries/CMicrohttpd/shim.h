#ifndef RIDEPULSE_CMICROHTTPD_H
#define RIDEPULSE_CMICROHTTPD_H

#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>

/* Leaves a path and its query as they were sent: decoded, a slash in an ID would split it, and what
   is not UTF-8 would be repaired. */
static inline size_t ridepulse_mhd_keep(void *context, struct MHD_Connection *connection,
                                        char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/* MHD_start_daemon is a variadic function, which Swift cannot call: one door with what we pass.
   A thread for each connection, which may wait for its answer. */
static inline struct MHD_Daemon *ridepulse_mhd_start(
    int listen_socket, MHD_AccessHandlerCallback answer, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback notify, void *context, unsigned int connections, unsigned int timeout_seconds) {
  return MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL,
      NULL, answer, context, MHD_OPTION_LISTEN_SOCKET, listen_socket, MHD_OPTION_NOTIFY_COMPLETED,
      completed, context, MHD_OPTION_NOTIFY_CONNECTION, notify, context,
      MHD_OPTION_UNESCAPE_CALLBACK, ridepulse_mhd_keep, NULL,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds, MHD_OPTION_END);
}

/* Whether a connection has come; else it goes. Swift has no name for the constant. */
static inline bool ridepulse_mhd_has_come(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/* The connection's socket, or -1. MHD_get_connection_info is variadic, too. */
static inline int ridepulse_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

#endif
