#ifndef RIDEPULSE_CLIBCURL_H
#define RIDEPULSE_CLIBCURL_H

#include <curl/curl.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic functions, which Swift cannot call:
   one typed function for each kind of argument that we pass. */
static inline CURLcode curl_easy_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_easy_setopt_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_easy_setopt_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

typedef CURLcode (*ridepulse_ssl_ctx_callback)(CURL *handle, void *ssl_ctx, void *context);

static inline CURLcode curl_easy_setopt_ssl_ctx_function(
    CURL *handle, ridepulse_ssl_ctx_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}

static inline CURLcode curl_easy_getinfo_socket(CURL *handle, curl_socket_t *socket) {
  return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, socket);
}

static inline CURLcode curl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

/* Takes bytes of the answer: a piece of its body, or one whole line of its head. */
typedef size_t (*ridepulse_write_callback)(char *bytes, size_t one, size_t count, void *context);

static inline CURLcode curl_easy_setopt_write_function(
    CURL *handle, CURLoption option, ridepulse_write_callback callback) {
  return curl_easy_setopt(handle, option, callback);
}

/* Called when a connection stands and before anything is sent on it. */
static inline CURLcode curl_easy_setopt_prereq_function(
    CURL *handle, curl_prereq_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

/* Called now and then while a connection is opened; another value than 0 ends that. */
typedef int (*ridepulse_xferinfo_callback)(
    void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode curl_easy_setopt_xferinfo_function(
    CURL *handle, ridepulse_xferinfo_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, callback);
}

#endif
